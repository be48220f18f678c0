// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/runtime.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <sched.h>

#include <algorithm>
#include <filesystem>

namespace plateau::train {
namespace {

int64_t allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

}  // namespace

BlasInfo blas_in_use() {
  void* product = dlsym(RTLD_DEFAULT, "sgemm_");
  Dl_info info{};
  if (product == nullptr || dladdr(product, &info) == 0 || info.dli_fname == nullptr) {
    return {.library = "unknown"};
  }
  std::error_code error;
  const std::filesystem::path file = std::filesystem::canonical(info.dli_fname, error);
  const bool is_fast = dlsym(RTLD_DEFAULT, "openblas_get_config") != nullptr ||
                       dlsym(RTLD_DEFAULT, "mkl_get_version") != nullptr ||
                       dlsym(RTLD_DEFAULT, "bli_info_get_version_str") != nullptr ||
                       dlsym(RTLD_DEFAULT, "ATL_buildinfo") != nullptr;
  const std::string name = error ? info.dli_fname : file.string();
  return {.library = name, .is_reference = !is_fast && name.find("libblas") != std::string::npos};
}

int64_t use_threads(int64_t wanted) {
  const int64_t threads = wanted > 0 ? wanted : std::max<int64_t>(allowed_cores(), 1);
  at::set_num_threads(static_cast<int>(threads));
  using SetThreads = void (*)(int);
  if (auto* set = reinterpret_cast<SetThreads>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))) {
    set(static_cast<int>(threads));
  }
  return threads;
}

}  // namespace plateau::train
