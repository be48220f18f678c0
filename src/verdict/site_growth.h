// SPDX-License-Identifier: Apache-2.0
// Which allocation sites grow with the steps, and how: the verdict's own statistics, one series per
// site.
//
// Pure: no I/O, no clock. The same words for call stacks, Python types and tensor shapes, because
// each is a series of live bytes over steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recording/heap_track.h"
#include "recording/run.h"
#include "verdict/verdict.h"

namespace plateau {

enum class GrowthWord : uint8_t {
  unbounded,  // Grows, and no bounded explanation fits any longer.
  filling,    // Grows, and ends: per example, per shape, at a size.
  grown,      // Grew and is level now.
  one_off,    // Came in one or few jumps and stays.
  churn,      // Allocates and frees; level floor.
  spike,      // High for a while, then gone.
  level,      // Alive all the time, does not change.
  undecided,
};
std::string_view growth_word_name(GrowthWord word);

struct SeriesPoint {
  double step = 0;  // Or seconds.
  double mb = 0;
};

struct SiteVerdict {
  size_t site = 0;  // Index into the track's sites, or of the caller's series.
  GrowthWord word = GrowthWord::undecided;
  double confidence = 0;
  double live_mb = 0;    // At the last row.
  double growth_mb = 0;  // Floor to floor over the run.
  double rate_mb_per_step = 0;
  Interval rate_range;                   // 90 %, with the sampling error in it.
  std::optional<double> ends_at_step;    // Filling: until when.
  std::optional<double> mb_per_example;  // If batch is known and it fills per example.
  double error_mb = 0;                   // Standard error of live_mb from sampling; 0 when exact.
  double median_age_steps = 0;           // Of blocks alive now.
  double blocks = 0;
  std::string why;  // One sentence with the evidence.
};

// Growing sites first, by what they will have grown to; then by size. `context` gives epochs,
// batch and totals, as for the whole run.
std::vector<SiteVerdict> judge_sites(const HeapTrack& track, const Context& context,
                                     const Policy& policy = {});

// One series of any kind.
SiteVerdict judge_series(const std::vector<SeriesPoint>& points, Clock clock,
                         const Context& context, const Policy& policy = {});

}  // namespace plateau
