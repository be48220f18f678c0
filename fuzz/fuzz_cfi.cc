// SPDX-License-Identifier: Apache-2.0
// The interpreter of call frame information: any bytes as an object's tables, any pc.
//
// Input: where the index begins (4 bytes), pc relative to the index (4 bytes, signed), the segment.
// The segment is copied to a block of its exact size, so that a read outside is seen.
#include <cstdint>
#include <cstring>
#include <vector>

#include "tracer/cfi.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  uint32_t index = 0;
  int32_t distance = 0;
  if (size <= sizeof index + sizeof distance) return 0;
  memcpy(&index, data, sizeof index);
  memcpy(&distance, data + sizeof index, sizeof distance);
  const std::vector<uint8_t> segment(data + 8, data + size);
  const plateau::trace::CfiWindow window{segment.data(), segment.data() + segment.size(),
                                         segment.data() + index % segment.size()};
  const uint64_t pc =
      reinterpret_cast<uint64_t>(window.index) + static_cast<uint64_t>(int64_t{distance});
  const plateau::trace::UnwindRule rule = plateau::trace::find_unwind_rule(window, pc);
  // What is packed into 16 and 27 bits later must fit.
  if (rule.saved_offset < INT16_MIN || rule.saved_offset > INT16_MAX) __builtin_trap();
  if (rule.cfa_offset <= -(1 << 26) || rule.cfa_offset >= 1 << 26) __builtin_trap();
  return 0;
}
