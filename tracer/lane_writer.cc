// SPDX-License-Identifier: Apache-2.0
#include "tracer/lane_writer.h"

#include "tracer/patience.h"
#include "tracer/process.h"

namespace plateau::trace {

bool put_record(const Piece* pieces, size_t count) noexcept {
  // While the segment of a child is being made, everything is told again later.
  if (tables.owner.load(std::memory_order_acquire) <= kSettingUp) {
    return false;
  }
  SegmentHeader& segment = *process.segment.load(std::memory_order_relaxed);
  const RecordPieces record{pieces, count};
  if (put_or_wait(segment, 0, &record, 1)) {
    return true;
  }
  segment.dropped_others.fetch_add(1, std::memory_order_relaxed);
  return false;
}

}  // namespace plateau::trace
