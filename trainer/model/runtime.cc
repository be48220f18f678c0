// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/runtime.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

namespace plateau::train {
namespace {

// Something that only an optimised library has, in it or in what it was linked to.
constexpr std::array<const char*, 5> kSigns = {"openblas_get_config", "MKL_Get_Version",
                                               "mkl_get_version", "bli_info_get_version_str",
                                               "ATL_buildinfo"};

bool has_sign(const char* library) {
  void* handle = ::dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) {
    return false;
  }
  const bool found = std::any_of(kSigns.begin(), kSigns.end(), [&](const char* sign) {
    return ::dlsym(handle, sign) != nullptr;
  });
  ::dlclose(handle);
  return found;
}

int64_t allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return ::sched_getaffinity(0, sizeof(set), &set) == 0 ? std::max(CPU_COUNT(&set), 1) : 1;
}

}  // namespace

BlasInfo blas_in_use() {
  void* product = ::dlsym(RTLD_DEFAULT, "sgemm_");
  Dl_info where{};
  if (product == nullptr || ::dladdr(product, &where) == 0 || where.dli_fname == nullptr) {
    return {"built in", false};
  }
  std::error_code ignored;
  const std::filesystem::path file = std::filesystem::canonical(where.dli_fname, ignored);
  const bool is_torch = file.filename().string().starts_with("libtorch");
  return {ignored ? where.dli_fname : file.string(), !is_torch && !has_sign(where.dli_fname)};
}

int64_t use_threads(int64_t wanted) {
  const int64_t threads = wanted > 0 ? wanted : allowed_cores();
  at::set_num_threads(static_cast<int>(threads));
  using SetThreads = void (*)(int);
  if (void* setter = ::dlsym(RTLD_DEFAULT, "openblas_set_num_threads"); setter != nullptr) {
    reinterpret_cast<SetThreads>(setter)(static_cast<int>(threads));
  }
  return threads;
}

}  // namespace plateau::train
