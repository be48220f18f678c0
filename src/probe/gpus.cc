// SPDX-License-Identifier: Apache-2.0
#include "probe/gpus.h"

#include <dlfcn.h>

#include <array>
#include <limits>

namespace plateau {
namespace {

// From nvml.h: the part of the interface that is used, in its version-2 and version-3 layout.
using NvmlDevice = struct NvmlDeviceHandle*;
struct NvmlMemory {
  unsigned long long total, free, used;
};
struct NvmlProcess {
  unsigned int pid;
  unsigned long long used;
  unsigned int gpu_instance, compute_instance;
};
constexpr int kSuccess = 0;
constexpr int kInsufficientSize = 7;
constexpr unsigned int kMaxProcesses = 4096;
constexpr unsigned int kMaxDevices = 256;

template <typename Function>
Function* symbol(void* handle, const char* name) {
  return reinterpret_cast<Function*>(dlsym(handle, name));
}

}  // namespace

struct Gpus::Library {
  void* handle = nullptr;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*count)(unsigned int*) = nullptr;
  int (*by_index)(unsigned int, NvmlDevice*) = nullptr;
  int (*name)(NvmlDevice, char*, unsigned int) = nullptr;
  int (*memory)(NvmlDevice, NvmlMemory*) = nullptr;
  int (*processes)(NvmlDevice, unsigned int*, NvmlProcess*) = nullptr;
  bool initialised = false;
  std::vector<NvmlDevice> devices;
  std::vector<NvmlProcess> scratch;

  Library() = default;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (initialised && shutdown != nullptr) shutdown();
    if (handle != nullptr) dlclose(handle);
  }

  bool load(const char* path) {
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return false;
    init = symbol<int()>(handle, "nvmlInit_v2");
    shutdown = symbol<int()>(handle, "nvmlShutdown");
    count = symbol<int(unsigned int*)>(handle, "nvmlDeviceGetCount_v2");
    by_index = symbol<int(unsigned int, NvmlDevice*)>(handle, "nvmlDeviceGetHandleByIndex_v2");
    name = symbol<int(NvmlDevice, char*, unsigned int)>(handle, "nvmlDeviceGetName");
    memory = symbol<int(NvmlDevice, NvmlMemory*)>(handle, "nvmlDeviceGetMemoryInfo");
    // Both have the layout of NvmlProcess; the first version's is shorter and is not used.
    using Processes = int(NvmlDevice, unsigned int*, NvmlProcess*);
    processes = symbol<Processes>(handle, "nvmlDeviceGetComputeRunningProcesses_v3");
    if (processes == nullptr) {
      processes = symbol<Processes>(handle, "nvmlDeviceGetComputeRunningProcesses_v2");
    }
    if (init == nullptr || count == nullptr || by_index == nullptr) return false;
    initialised = init() == kSuccess;
    return initialised;
  }

  void list_processes(NvmlDevice device, std::vector<Use>& uses) {
    if (processes == nullptr) return;
    if (scratch.empty()) scratch.resize(64);
    auto listed = static_cast<unsigned int>(scratch.size());
    int answer = processes(device, &listed, scratch.data());
    if (answer == kInsufficientSize && listed <= kMaxProcesses) {
      // Some more than asked for: processes come while one asks.
      scratch.resize(listed + 16);
      listed = static_cast<unsigned int>(scratch.size());
      answer = processes(device, &listed, scratch.data());
    }
    if (answer != kSuccess || listed > scratch.size()) return;
    for (unsigned int i = 0; i < listed; ++i) {
      // All ones: the driver does not know (a container, or Windows' driver model).
      if (scratch[i].used == std::numeric_limits<unsigned long long>::max()) continue;
      uses.push_back(
          {static_cast<pid_t>(scratch[i].pid), static_cast<int64_t>(scratch[i].used / 1024)});
    }
  }
};

Gpus::Gpus(const std::string& library) {
  if (library.empty()) return;
  auto loaded = make_hidden<Library>();
  if (!loaded->load(library.c_str())) return;
  unsigned int devices = 0;
  if (loaded->count(&devices) != kSuccess || devices > kMaxDevices) return;
  for (unsigned int i = 0; i < devices; ++i) {
    NvmlDevice device = nullptr;
    if (loaded->by_index(i, &device) != kSuccess) continue;
    loaded->devices.push_back(device);
    GpuSample sample;
    sample.index = static_cast<int>(i);
    std::array<char, 96> name{};
    if (loaded->name != nullptr && loaded->name(device, name.data(), name.size()) == kSuccess) {
      name.back() = '\0';
      sample.name = name.data();
    }
    devices_.push_back(sample);
  }
  if (!devices_.empty()) library_ = std::move(loaded);
}

bool Gpus::present() const {
  return library_ != nullptr;
}

void Gpus::read() {
  if (!library_) return;
  uses_.clear();
  for (size_t i = 0; i < devices_.size(); ++i) {
    NvmlMemory memory{};
    const bool told =
        library_->memory != nullptr && library_->memory(library_->devices[i], &memory) == kSuccess;
    devices_[i].used_kb = told ? static_cast<int64_t>(memory.used / 1024) : kUnread;
    devices_[i].total_kb = told ? static_cast<int64_t>(memory.total / 1024) : kUnread;
    library_->list_processes(library_->devices[i], uses_);
  }
}

int64_t Gpus::used_by_kb(pid_t pid) const {
  int64_t sum = kUnread;
  for (const Use& use : uses_) {
    if (use.pid == pid) sum = (sum == kUnread ? 0 : sum) + use.kb;
  }
  return sum;
}

}  // namespace plateau
