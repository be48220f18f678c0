// SPDX-License-Identifier: Apache-2.0
// A life of a job in a few figures: where its memory stood in each third of it, and how it ended.
//
// A log may hold several runs of one job, one after the other, and each is judged by itself. What
// the earlier ones did is evidence all the same (verdict/repeated_lives.h); so each run carries the
// outlines of those before it, which are enough for that and cost nothing.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace plateau {

struct Run;

struct LifeOutline {
  static constexpr size_t kParts = 3;
  std::array<double, kParts> at{};  // Middle of each third on the clock, ...
  std::array<double, kParts> mb{};  // ... and of what was held in it.
  double length = 0;                // On the clock.
  double end_mb = 0;
  bool killed = false;  // It ended for want of memory, as far as anything says so.
};

// Of a stretch of instants; values that are not finite are passed over. Empty if fewer than three a
// third are left.
std::optional<LifeOutline> outline_of(std::span<const double> at, std::span<const double> mb);

// Of a whole run, what all of its processes own together, on its steps or, if it has none, its
// times.
std::optional<LifeOutline> outline_of(const Run& run);

// Did memory end the run, or a part [from, to) of it? The job or its kernel said so there, or it
// ended close to the limit.
bool killed_for_memory(const Run& run, size_t from, size_t to, double end_mb);

}  // namespace plateau
