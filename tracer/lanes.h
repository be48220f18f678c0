// SPDX-License-Identifier: Apache-2.0
// The writing side of a segment's lanes (segment.h says how they work).
#pragma once

#include <cstddef>
#include <cstdint>

#include "tracer/lane_writer.h"
#include "tracer/segment.h"

namespace plateau::trace {

// The pieces of one record; the first begins with its RecordHead.
struct RecordPieces {
  const Piece* pieces = nullptr;
  size_t count = 0;
};

// Writes all of `records` back to back into one lane, or nothing and returns false. Tries every
// lane once, from `first_lane` on. Counts no drops. Any thread, never waits.
bool put_into(SegmentHeader& segment, uint32_t first_lane, const RecordPieces* records,
              size_t count) noexcept;

}  // namespace plateau::trace
