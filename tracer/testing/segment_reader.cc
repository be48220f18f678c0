// SPDX-License-Identifier: Apache-2.0
#include "tracer/testing/segment_reader.h"

#include <algorithm>
#include <cstring>

namespace plateau::trace::testing {
namespace {

template <typename Record>
Record take(const char* at) {
  Record record{};
  memcpy(&record, at, sizeof(record));
  return record;
}

void take_record(const char* at, const RecordHead& head, SegmentContents& out) {
  if (head.type == RecordType::alloc) {
    const auto alloc = take<AllocRecord>(at);
    out.events.push_back({.type = head.type,
                          .kind = static_cast<BlockKind>(head.kind),
                          .interval_log2 = head.note,
                          .address = alloc.address,
                          .bytes = alloc.bytes,
                          .stack = alloc.stack,
                          .stamp = alloc.stamp});
  } else if (head.type == RecordType::free) {
    const auto gone = take<FreeRecord>(at);
    out.events.push_back({.type = head.type, .address = gone.address, .stamp = gone.stamp});
  } else if (head.type == RecordType::unmap) {
    const auto gone = take<UnmapRecord>(at);
    out.events.push_back(
        {.type = head.type, .address = gone.address, .bytes = gone.bytes, .stamp = gone.stamp});
  } else if (head.type == RecordType::stack) {
    const auto stack = take<StackRecord>(at);
    StackFrames& frames = out.stacks[stack.id];
    frames.native.resize(stack.native);
    memcpy(frames.native.data(), at + sizeof(StackRecord), stack.native * sizeof(uint64_t));
    frames.python.resize(stack.python);
    if (stack.python > 0) {
      memcpy(frames.python.data(), at + sizeof(StackRecord) + stack.native * sizeof(uint64_t),
             stack.python * sizeof(PythonFrameWords));
    }
  } else if (head.type == RecordType::code) {
    const auto code = take<CodeRecord>(at);
    const char* text = at + sizeof(CodeRecord);
    out.codes[code.id] = {.file = std::string(text, code.file_bytes),
                          .function = std::string(text + code.file_bytes, code.function_bytes),
                          .first_line = code.first_line,
                          .minor = code.minor,
                          .line_table_bytes = code.line_table_bytes};
  } else if (head.type == RecordType::module) {
    const auto module = take<ModuleRecord>(at);
    const char* path = at + sizeof(ModuleRecord) + module.build_id_bytes;
    out.modules.push_back({.begin = module.begin,
                           .end = module.end,
                           .bias = module.bias,
                           .build_id_bytes = module.build_id_bytes,
                           .path = std::string(path, module.path_bytes)});
  } else if (head.type > RecordType::module) {
    out.damaged = true;
  }
}

void read_lane(const SegmentHeader& segment, uint32_t index, SegmentContents& out) {
  const uint64_t lane_bytes = segment.lane_bytes;
  const char* ring = reinterpret_cast<const char*>(&segment) + kHeaderBytes + index * lane_bytes;
  uint64_t at = segment.lanes[index].read.load(std::memory_order_relaxed);
  const uint64_t end = segment.lanes[index].written.load(std::memory_order_acquire);
  while (at < end) {
    const char* place = ring + at % lane_bytes;
    const auto head = take<RecordHead>(place);
    const uint64_t bytes = uint64_t{head.words} * 8;
    if (bytes == 0 || at + bytes > end || at % lane_bytes + bytes > lane_bytes) {
      out.damaged = true;
      return;
    }
    take_record(place, head, out);
    at += bytes;
  }
}

}  // namespace

SegmentContents read_segment(const SegmentHeader& segment) {
  SegmentContents out{
      .pid = segment.pid,
      .exact = segment.exact != 0,
      .interval_log2 = segment.interval_log2.load(),
      .state = segment.state.load(),
      .dropped = segment.dropped_allocs.load() + segment.dropped_frees.load() +
                 segment.dropped_others.load(),
      .samples = segment.samples.load(),
      .account_answered = segment.account.answered.load(),
      .allocator = static_cast<AllocatorKind>(segment.account.allocator.load()),
      .in_use = segment.account.in_use.load(),
      .system = segment.account.system.load(),
      .python_minor = segment.python_minor.load(),
      .python_hooked = segment.python_hooked.load() != 0,
      .damaged = segment.magic != kSegmentMagic || segment.version != kSegmentVersion,
  };
  for (uint32_t lane = 0; lane < kLaneCount; ++lane) {
    read_lane(segment, lane, out);
  }
  std::stable_sort(out.events.begin(), out.events.end(),
                   [](const HeapEvent& a, const HeapEvent& b) { return a.stamp < b.stamp; });
  for (const HeapEvent& event : out.events) {
    out.stacks_missing += event.stack != 0 && !out.stacks.contains(event.stack) ? 1 : 0;
  }
  return out;
}

std::map<uint64_t, HeapEvent> live_blocks(const SegmentContents& contents) {
  std::map<uint64_t, HeapEvent> live;
  for (const HeapEvent& event : contents.events) {
    if (event.type == RecordType::alloc) {
      live[event.address] = event;
    } else if (event.type == RecordType::free) {
      live.erase(event.address);
    } else {
      live.erase(live.lower_bound(event.address), live.lower_bound(event.address + event.bytes));
    }
  }
  return live;
}

}  // namespace plateau::trace::testing
