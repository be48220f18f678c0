// SPDX-License-Identifier: Apache-2.0
// The last word of a benchmark program: what it used itself, for overhead.py to read.
#pragma once

#include <sys/resource.h>

#include <cstdio>

// Highest resident memory of this program. getrusage() would count what its parent had at fork.
inline long peak_kb() {
  long kb = 0;
  char line[256];
  std::FILE* status = std::fopen("/proc/self/status", "r");
  while (status && std::fgets(line, sizeof line, status)) {
    if (std::sscanf(line, "VmHWM: %ld kB", &kb) == 1) break;
  }
  if (status) std::fclose(status);
  return kb;
}

inline void print_usage() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const double cpu_s = static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                       static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
  std::fprintf(stderr, "usage: cpu_s=%.4f peak_kb=%ld\n", cpu_s, peak_kb());
}
