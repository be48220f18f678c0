// SPDX-License-Identifier: Apache-2.0
// PyTorch's CUDA memory snapshots: torch.cuda.memory._snapshot(), pickled, as _dump_snapshot()
// writes them. Each device becomes a process "GPU N" with what its allocator gave out and what it
// holds, and a heap whose sites are the call stacks; cuda_history.h says how.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/units.h"
#include "import/cuda_history.h"
#include "import/readers.h"
#include "import/run_builder.h"

namespace plateau {
namespace {

constexpr size_t kWindows = 512;

struct DeviceColumns {
  size_t allocated = RunBuilder::kNone;
  size_t reserved = RunBuilder::kNone;
  CudaHistory history;
};

void note_beginning(const CudaDevice& device, const CudaHistory& history, RunBuilder& builder) {
  if (history.before_bytes <= 0) return;
  builder.note(
      fmt::format("GPU {}: the history begins with {} in use, {} of it without a call stack",
                  device.index, format_mb(history.before_bytes / kBytesPerMb),
                  format_mb(history.unknown_bytes / kBytesPerMb)));
}

// The instant at a share of a window.
Instant instant_at(const CudaClock& clock, size_t window, size_t windows, double share) {
  const double length = (clock.end - clock.begin) / static_cast<double>(windows);
  const double at = clock.begin + (static_cast<double>(window) + share) * length;
  return {.step = static_cast<int64_t>(at),
          .time_s = clock.timed ? clock.time_s(at) : kMissing,
          .epoch = kMissing};
}

void add_window(const std::vector<DeviceColumns>& devices, const CudaClock& clock, size_t window,
                size_t windows, RunBuilder& builder) {
  for (const bool high : {false, true}) {
    builder.row(instant_at(clock, window, windows, high ? 0.75 : 0.25), window * 2 + high);
    for (const DeviceColumns& device : devices) {
      const CudaWindow& now = device.history.windows[window];
      builder.set_mb(device.allocated, (high ? now.high_bytes : now.low_bytes) / kBytesPerMb);
      builder.set_mb(device.reserved, now.reserved_bytes / kBytesPerMb);
      if (high && now.ooms > 0) builder.event(EventKind::oom, "an allocation failed");
    }
  }
}

}  // namespace

Result<Runs> read_cuda_snapshot(LineReader& input) {
  Result<CudaSnapshot> read = [&input]() -> Result<CudaSnapshot> {
    const Result<Pickle> pickle = read_pickle(input);
    if (!pickle) return pickle.error();
    return read_snapshot(pickle.value());
  }();
  if (!read) return read.error();
  const CudaSnapshot& snapshot = read.value();
  const CudaClock clock = clock_of(snapshot);
  RunBuilder builder(std::string(kSnapshotFormat), RunBuilder::Join::same_time);
  builder.set_epoch_time(clock.timed);
  builder.note("a step is one allocation or free in the history, of all devices together");
  if (!clock.timed) builder.note("the snapshot has no times: each device counts for itself");
  const auto events = static_cast<size_t>(clock.end) + 1;
  const size_t windows = std::clamp<size_t>(events / 2, 1, kWindows);
  std::vector<DeviceColumns> devices;
  for (const CudaDevice& device : snapshot.devices) {
    const size_t process = builder.process(device.index, false);
    builder.describe(process, fmt::format("GPU {}", device.index), -1);
    devices.push_back({builder.memory_column(process, Metric::gpu, "allocated"),
                       builder.memory_column(process, Metric::gpu_reserved, "reserved"),
                       play_history(device, snapshot.stacks, clock, windows)});
    note_beginning(device, devices.back().history, builder);
  }
  for (size_t window = 0; window < windows; ++window) {
    add_window(devices, clock, window, windows, builder);
  }
  Runs runs = builder.finish(events);
  if (runs.empty()) return runs;
  Run& run = runs.back();
  run.heap_start_s = clock.timed ? clock.time_s(clock.begin) : 0;
  for (DeviceColumns& device : devices) run.heaps.push_back(std::move(device.history.track));
  return runs;
}

}  // namespace plateau
