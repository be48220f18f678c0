// SPDX-License-Identifier: Apache-2.0
// The last word of a benchmark program: what it used itself, for overhead.py to read.
#pragma once

#include <sys/resource.h>

#include <cstdio>

inline void print_usage() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const double cpu_s = static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                       static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
  std::fprintf(stderr, "usage: cpu_s=%.4f peak_kb=%ld\n", cpu_s, used.ru_maxrss);
}
