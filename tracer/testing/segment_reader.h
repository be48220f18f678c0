// SPDX-License-Identifier: Apache-2.0
// Reads a whole segment for tests: everything in its lanes, in the order of the stamps.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tracer/segment.h"

namespace plateau::trace::testing {

struct HeapEvent {
  RecordType type = RecordType::padding;  // alloc, free or unmap.
  BlockKind kind = BlockKind::heap;
  uint32_t interval_log2 = 0;
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t stack = 0;
  uint64_t stamp = 0;
};

struct StackFrames {
  std::vector<uint64_t> native;
  std::vector<PythonFrameWords> python;
};

struct CodeText {
  std::string file;
  std::string function;
  int32_t first_line = 0;
  uint32_t minor = 0;
  size_t line_table_bytes = 0;
};

struct ModuleText {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t bias = 0;
  size_t build_id_bytes = 0;
  std::string path;
};

struct SegmentContents {
  uint32_t pid = 0;
  bool exact = false;
  uint32_t interval_log2 = 0;
  SegmentState state = SegmentState::starting;
  uint64_t dropped = 0;
  uint64_t samples = 0;
  uint32_t account_answered = 0;
  AllocatorKind allocator = AllocatorKind::unknown;
  uint64_t in_use = 0;
  uint64_t system = 0;
  std::vector<HeapEvent> events;  // By stamp.
  std::map<uint64_t, StackFrames> stacks;
  std::map<uint64_t, CodeText> codes;
  std::vector<ModuleText> modules;
  uint32_t python_minor = 0;
  bool python_hooked = false;
  size_t stacks_missing = 0;  // Named by an alloc, sent by nobody.
  bool damaged = false;       // A record that cannot be.
};

// `segment` must not be written to meanwhile.
SegmentContents read_segment(const SegmentHeader& segment);

// The blocks that are alive after all events, by address.
std::map<uint64_t, HeapEvent> live_blocks(const SegmentContents& contents);

}  // namespace plateau::trace::testing
