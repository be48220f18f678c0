// SPDX-License-Identifier: Apache-2.0
// The load that a job was under, where a run tells: is memory up because work is?
//
// A server holds what its requests in flight need. When traffic rises in the morning its memory
// rises too, for hours, in a straight line, and falls again at night. By the curve alone that is a
// leak. The load tells them apart, if anything in the run measures it: CPU time (Plateau's own
// recordings have it for each process, as the gauge "cpu_s", counted up), or a column of the log
// that counts work in flight: requests, connections, queries or requests per second, CPU per cent.
// A column of requests that never falls counts all of them so far, as servers' own counters do;
// then its rate is the load. Memory in proportion to all requests ever served is no memory of work
// in flight: it is a leak for each request.
//
// The series is the mean load between two instants, on the run's clock. The shapes
// (family_table.cc) then have a column for it: memory that follows the load is bounded by it, and a
// leak shows as what goes up besides.
//
// Blind spot: work that is not paid in CPU time, such as connections that are open and idle, where
// the log has no column for them.
#pragma once

#include <vector>

#include "recording/run.h"
#include "verdict/signal.h"

namespace plateau {

// Traffic rises from its low at night to its high at noon: half a day.
inline constexpr double kLongestRiseOfLoadS = 12 * 3600;

struct Load {
  bool known = false;
  std::vector<TimedValue> points;  // Empty where it hardly varies.
};
Load load_of(const Run& run, const std::vector<double>& clock_of_instant);

// Does a gauge of this name count work in flight?
bool names_load(std::string_view gauge);

}  // namespace plateau
