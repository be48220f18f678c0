// SPDX-License-Identifier: Apache-2.0
#include "import/cuda_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace plateau {
namespace {

constexpr size_t kMaxBlocks = 4u << 20;

bool is_python(std::string_view file) {
  return file.ends_with(".py") || file.starts_with('<');
}

class SnapshotReader {
 public:
  explicit SnapshotReader(const Pickle& pickle) : pickle_(pickle) {
    snapshot_.stacks.frames = {{"(no call stack was recorded)", "", 0},
                               {"(allocated before the history begins)", "", 0}};
    snapshot_.stacks.stacks = {{0}, {1}};
  }

  Result<CudaSnapshot> read() {
    const PickleValue root = pickle_.root();
    const PickleValue traces = pickle_.at(root, "device_traces");
    const PickleValue segments = pickle_.at(root, "segments");
    using Kind = PickleValue::Kind;
    if (traces.kind() != Kind::list && segments.kind() != Kind::list) {
      return Error{Error::Kind::no_samples,
                   "is a pickle, but no CUDA memory snapshot: it holds neither 'segments' nor "
                   "'device_traces'"};
    }
    int64_t index = 0;
    for (const PickleValue trace : pickle_.items(traces)) read_trace(trace, index++);
    if (events_ > CudaSnapshot::kMaxEvents) {
      return Error{Error::Kind::bad_input,
                   fmt::format("holds more than {} events; record fewer, with "
                               "torch.cuda.memory._record_memory_history(max_entries=…)",
                               CudaSnapshot::kMaxEvents)};
    }
    if (snapshot_.devices.empty()) {
      return Error{Error::Kind::no_samples,
                   "is a CUDA memory snapshot without a history: call "
                   "torch.cuda.memory._record_memory_history() before the training starts"};
    }
    for (const PickleValue segment : pickle_.items(segments)) read_segment(segment);
    return std::move(snapshot_);
  }

 private:
  void read_trace(PickleValue trace, int64_t index) {
    CudaDevice device;
    device.index = index;
    for (const PickleValue entry : pickle_.items(trace)) {
      if (++events_ > CudaSnapshot::kMaxEvents) return;
      CudaEvent event;
      if (read_event(entry, event)) device.events.push_back(event);
    }
    if (!device.events.empty()) snapshot_.devices.push_back(std::move(device));
  }

  // False for what moves no memory ("free_requested", "snapshot", a range of the program).
  bool read_event(PickleValue entry, CudaEvent& event) {
    PickleValue frames;
    std::string_view action;
    const std::span<const PickleValue> pairs = pickle_.pairs(entry);
    for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
      const std::string_view key = pickle_.text(pairs[i]);
      const PickleValue value = pairs[i + 1];
      if (key == "action") action = pickle_.text(value);
      if (key == "addr") event.address = static_cast<uint64_t>(pickle_.integer(value));
      if (key == "size") event.bytes = std::clamp(pickle_.number(value), 0.0, 1e15);
      if (key == "time_us") event.time_us = pickle_.number(value);
      if (key == "frames") frames = value;
    }
    static constexpr std::pair<std::string_view, CudaEvent::Kind> kActions[] = {
        {"alloc", CudaEvent::Kind::alloc},
        {"free_completed", CudaEvent::Kind::free},
        {"free", CudaEvent::Kind::free},
        {"segment_alloc", CudaEvent::Kind::reserve},
        {"segment_map", CudaEvent::Kind::reserve},
        {"segment_free", CudaEvent::Kind::release},
        {"segment_unmap", CudaEvent::Kind::release},
        {"oom", CudaEvent::Kind::oom},
    };
    const auto known = std::find_if(std::begin(kActions), std::end(kActions),
                                    [action](const auto& one) { return one.first == action; });
    if (known == std::end(kActions)) return false;
    event.kind = known->second;
    // Beyond the year 5000, or not there: then the events are counted instead.
    const bool timed = event.time_us > 0 && event.time_us < 1e17;
    snapshot_.has_times = snapshot_.has_times && timed;
    if (event.kind == CudaEvent::Kind::alloc) event.stack = stack_of(frames);
    return true;
  }

  void read_segment(PickleValue segment) {
    const int64_t index = pickle_.integer(pickle_.at(segment, "device"));
    const auto device = std::find_if(snapshot_.devices.begin(), snapshot_.devices.end(),
                                     [index](const CudaDevice& one) { return one.index == index; });
    if (device == snapshot_.devices.end()) return;
    device->reserved_bytes +=
        std::clamp(pickle_.number(pickle_.at(segment, "total_size")), 0.0, 1e15);
    // Blocks stand one after the other; older snapshots do not say where.
    auto address = static_cast<uint64_t>(pickle_.integer(pickle_.at(segment, "address")));
    for (const PickleValue block : pickle_.items(pickle_.at(segment, "blocks"))) {
      if (++blocks_ > kMaxBlocks) return;
      const PickleValue own = pickle_.at(block, "address");
      if (own.kind() == PickleValue::Kind::integer) {
        address = static_cast<uint64_t>(pickle_.integer(own));
      }
      const int64_t bytes = std::max<int64_t>(0, pickle_.integer(pickle_.at(block, "size")));
      if (pickle_.text(pickle_.at(block, "state")).starts_with("active")) {
        device->alive.push_back({address, std::min(static_cast<double>(bytes), 1e15),
                                 stack_of(pickle_.at(block, "frames"))});
      }
      address += static_cast<uint64_t>(bytes);
    }
  }

  // The same list of frames is mostly the same object.
  uint32_t stack_of(PickleValue frames) {
    if (pickle_.items(frames).empty()) return CudaStacks::kUnknown;
    const auto [known, fresh] = stack_of_list_.try_emplace(frames.identity(), 0);
    if (fresh) known->second = intern_stack(pickle_.items(frames));
    return known->second;
  }

  uint32_t intern_stack(std::span<const PickleValue> frames) {
    std::vector<uint32_t> all;
    std::vector<uint32_t> python;
    for (const PickleValue frame : frames) {
      if (all.size() >= CudaSnapshot::kMaxDepth) break;
      const uint32_t number = frame_of(frame);
      all.push_back(number);
      if (is_python(snapshot_.stacks.frames[number].file)) python.push_back(number);
    }
    // C++ frames between and below the Python ones are the machinery of torch.
    std::vector<uint32_t>& stack = python.empty() ? all : python;
    std::vector<std::vector<uint32_t>>& stacks = snapshot_.stacks.stacks;
    const auto [known, fresh] =
        stack_of_frames_.try_emplace(stack, static_cast<uint32_t>(stacks.size()));
    if (fresh) stacks.push_back(stack);
    return known->second;
  }

  uint32_t frame_of(PickleValue frame) {
    const auto [known, fresh] = frame_of_dict_.try_emplace(frame.identity(), 0);
    if (!fresh) return known->second;
    const std::string_view file = pickle_.text(pickle_.at(frame, "filename"));
    const std::string_view function = pickle_.text(pickle_.at(frame, "name"));
    const auto line = static_cast<int32_t>(
        std::clamp<int64_t>(pickle_.integer(pickle_.at(frame, "line")), 0, INT32_MAX));
    std::vector<CudaFrame>& frames = snapshot_.stacks.frames;
    const auto [same, added] =
        frame_of_place_.try_emplace(std::tuple(std::string(file), std::string(function), line),
                                    static_cast<uint32_t>(frames.size()));
    if (added) frames.push_back({std::string(function), std::string(file), line});
    known->second = same->second;
    return same->second;
  }

  const Pickle& pickle_;
  CudaSnapshot snapshot_;
  size_t events_ = 0;
  size_t blocks_ = 0;
  std::unordered_map<uint64_t, uint32_t> stack_of_list_;
  std::unordered_map<uint64_t, uint32_t> frame_of_dict_;
  std::map<std::vector<uint32_t>, uint32_t> stack_of_frames_;
  std::map<std::tuple<std::string, std::string, int32_t>, uint32_t> frame_of_place_;
};

}  // namespace

Result<CudaSnapshot> read_snapshot(const Pickle& pickle) {
  return SnapshotReader(pickle).read();
}

}  // namespace plateau
