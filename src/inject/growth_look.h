// SPDX-License-Identifier: Apache-2.0
// Does a process grow just now? A short look from outside, before and after an experiment.
//
// What an experiment gives back says nothing about the rest: a job may keep 53 MB that it has freed
// and leak 10 MB a second beside that. So its memory is read for a while, and the floor of the
// later half of that while is compared with the floor of the earlier half.
//
// Worked number. A leak of 2 MB every 0.2 s, looked at for 2 s: floors of 70 and 80 MB, one second
// apart, so 10 MB/s.
//
// Blind spot. Two seconds show growth of half a megabyte a second and more; a slower leak, and one
// that comes by the minute, look level. And a rise may be the rising side of a sawtooth. So a look
// can say that growth goes on, never that there is none: that takes a verdict (`plateau watch`).
#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

namespace plateau {

struct GrowthLook {
  double seconds = 0;
  double mb_per_s = 0;  // May be negative.
  bool grows = false;   // By more than a look can err.
};

// At one moment, in seconds and MB.
struct MemoryPoint {
  double at_s = 0;
  double mb = 0;
};

// Requires: in order of time. Fewer than four points show no growth.
GrowthLook judge_growth(const std::vector<MemoryPoint>& points);

// Reads anonymous, shared and swapped memory for `seconds`; nullopt if the process ends meanwhile
// or there is nothing to look at. Only reads.
std::optional<GrowthLook> look_at_growth(pid_t pid, double seconds);

}  // namespace plateau
