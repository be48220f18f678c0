// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/runtime.h"

#include <ATen/Parallel.h>
#include <sched.h>

#include <algorithm>

namespace plateau::train {
namespace {

int64_t allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return ::sched_getaffinity(0, sizeof(set), &set) == 0 ? std::max(CPU_COUNT(&set), 1) : 1;
}

}  // namespace

int64_t use_threads(int64_t wanted) {
  const int64_t threads = wanted > 0 ? wanted : allowed_cores();
  at::set_num_threads(static_cast<int>(threads));
  return threads;
}

}  // namespace plateau::train
