// SPDX-License-Identifier: Apache-2.0
// Which allocation sites grow with the steps, and how: the verdict's own statistics, one series per
// site.
//
// Method. A site's live bytes over the working rows (start-up and tear-down left out by the rules
// of signal.h) are a series like the memory of a whole run, and decision.h judges it. Two things
// differ. What is measured are bytes, not pages, so the granularity of an allocator is no lower
// bound; and in sampled mode the figures have an error. Therefore each series is measured from its
// own lowest point and in units of what matters there: the largest of three standard errors, a
// thousandth of the whole heap, and 0.05 MB. Growth below one unit is no growth.
//
// Before that a screen: a series whose floor does not move by a unit is level, or churn if what was
// freed is at least twice its peak. Only the others are weighed, so that a thousand sites cost less
// than a second.
//
// The error. A sampled block stands for many; the variance of a site's estimate is proportional to
// what is alive, so of the last row's variance V and live bytes L an earlier row with l has V l /
// L. Worked case: 20 MB alive in blocks of 1 kB, one sample per 512 KiB: V = 20e6 x 0.52e6, error
// 3.2 MB. A site that wavers by 9 MB shows nothing; one that rose from 0 to 20 MB did grow, at a
// rate known to a quarter.
//
// Blind spots. Each site is judged by itself: of a hundred growing but bounded sites two may be
// called unbounded (Policy::false_leak). Events (evaluations, checkpoints) are not looked at. A
// site that grows slower than a thousandth of the heap per run is called level.
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

// What a series counts. Counts stand in the fields named _mb as they are.
enum class SeriesUnit : uint8_t { mb, count };

struct SiteVerdict {
  size_t site = 0;  // Index into the track's sites, or of the caller's series.
  GrowthWord word = GrowthWord::undecided;
  double confidence = 0;
  double live_mb = 0;    // At the last row.
  double growth_mb = 0;  // Floor to floor over the run.
  bool grew = false;     // By more than its error, and by as much as matters.
  double rate_mb_per_step = 0;
  Interval rate_range;                   // 90 %, with the sampling error in it.
  std::optional<double> ends_at_step;    // Filling: until when.
  std::optional<double> mb_per_example;  // If batch is known and it fills per example.
  double error_mb = 0;                   // Standard error of live_mb from sampling; 0 when exact.
  double median_age_steps = 0;           // Of blocks alive now.
  double blocks = 0;
  Clock clock = Clock::steps;
  SeriesUnit unit = SeriesUnit::mb;
  std::vector<Explanation> explanations;  // Those that `why` names.
  Finding why;                            // The evidence.
};

// True for sites that rise and may go on: unbounded, filling, and undecided ones that rose.
bool is_growing(const SiteVerdict& verdict);
// The same, and those that rose and may be level now: grown, one-off, and undecided ones that grew.
bool has_grown(const SiteVerdict& verdict);

// Growing sites first, by what they will have grown to; then those that have grown, by how much;
// then by size. What rose by less than its error, or to next to nothing beside what others grew by,
// does not come before those. `context` gives epochs, batch and totals, as for the whole run.
std::vector<SiteVerdict> judge_sites(const HeapTrack& track, const Context& context,
                                     const Policy& policy = {});

// One series of any kind.
SiteVerdict judge_series(const std::vector<TimedValue>& points, Clock clock, const Context& context,
                         const Policy& policy = {}, SeriesUnit unit = SeriesUnit::mb);

// The rows of a track that count, on the clock that judge_sites() uses: steps where rows have them,
// else seconds.
struct WorkingRows {
  Clock clock = Clock::seconds;
  std::vector<size_t> rows;  // Indices into HeapTrack::rows, in order.
  std::vector<double> at;    // Their clock values; several rows may share one.
};
WorkingRows working_rows(const HeapTrack& track);

}  // namespace plateau
