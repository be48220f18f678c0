// SPDX-License-Identifier: Apache-2.0
// Makes the file that a traced process shares with the recorder.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tracer/segment.h"

namespace plateau::trace {

struct SegmentRequest {
  const char* directory = nullptr;
  bool exact = false;
  uint32_t interval_log2 = 0;
  bool small = false;  // For a child, which may be one of thousands: the smallest lanes do.
};

// Creates DIRECTORY/PID-STAMP.segment with all its blocks reserved, mapped and its header filled in
// (state running); with smaller lanes if there is no room. nullptr if anything fails; then nothing
// is left behind but, if possible, an empty file PID-STAMP.untraced, and `told` is set. Allocates
// nothing.
SegmentHeader* create_segment(const SegmentRequest& request, bool& told) noexcept;

// Takes one that the recorder holds ready, by openat, mmap, munmap and close alone, filled in the
// same way. nullptr if there is none.
SegmentHeader* claim_segment(const SegmentRequest& request) noexcept;

}  // namespace plateau::trace
