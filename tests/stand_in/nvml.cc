// SPDX-License-Identifier: Apache-2.0
// Stands in for libnvidia-ml.so.1 in tests: two devices of 24 GB; process 4242 holds 1 GB on the
// first and 2 GB on the second, and a hundred others hold nothing anybody knows of.
#include <cstdio>

extern "C" {

struct StandInMemory {
  unsigned long long total, free, used;
};
struct StandInProcess {
  unsigned int pid;
  unsigned long long used;
  unsigned int gpu_instance, compute_instance;
};

int nvmlInit_v2() {
  return 0;
}
int nvmlShutdown() {
  return 0;
}
int nvmlDeviceGetCount_v2(unsigned int* count) {
  *count = 2;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void** device) {
  static char handles[2];
  *device = &handles[index];
  handles[index] = static_cast<char>(index + 1);
  return 0;
}
int nvmlDeviceGetName(void* device, char* name, unsigned int length) {
  std::snprintf(name, length, "Stand-in %d", *static_cast<char*>(device));
  return 0;
}
int nvmlDeviceGetMemoryInfo(void* device, StandInMemory* memory) {
  const auto number = static_cast<unsigned long long>(*static_cast<char*>(device));
  *memory = {24ULL << 30, (24ULL - number) << 30, number << 30};
  return 0;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned int* count,
                                            StandInProcess* processes) {
  constexpr unsigned int kListed = 101;
  const bool fits = *count >= kListed;
  *count = kListed;
  if (!fits) return 7;
  const auto number = static_cast<unsigned long long>(*static_cast<char*>(device));
  processes[0] = {4242, number << 30, 0, 0};
  for (unsigned int i = 1; i < kListed; ++i) processes[i] = {i, ~0ULL, 0, 0};
  return 0;
}
}
