// SPDX-License-Identifier: Apache-2.0
#include "import/better_reading.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "import/reading_parts.h"
#include "import/run_builder.h"

namespace plateau {
namespace {

using Runs = std::vector<Run>;

constexpr double kSameReading = 0.01;  // What two readers of one figure may differ by, of it.

// Whether the figures are those that were learned, in the same unit; kB are of either size.
bool takes_the_same(const Reading& reading, const Run& run) {
  if (reading.memory.front().falls) return false;
  for (const Series& series : run.series) {
    const auto first =
        std::find_if(series.mb.begin(), series.mb.end(), [](double mb) { return !std::isnan(mb); });
    if (first == series.mb.end()) continue;
    for (const double mb : reading.firsts_mb) {
      if (std::abs(*first - mb) <= kSameReading * mb) return true;
    }
  }
  return false;
}

// Whether bytes were taken for KiB, as `ps -o rss=` prints them alone after a time: what was
// learned knows them by their pages.
bool took_bytes_for_kib(const Reading& reading, const Run& run) {
  constexpr double kKib = 1024;
  if (!reading.memory.front().title.empty()) return false;
  return std::any_of(run.series.begin(), run.series.end(), [&reading](const Series& series) {
    const auto first =
        std::find_if(series.mb.begin(), series.mb.end(), [](double mb) { return !std::isnan(mb); });
    return first != series.mb.end() && *first > 0 && !reading.firsts_mb.empty() &&
           std::abs(*first - kKib * reading.firsts_mb.front()) <= kSameReading * *first;
  });
}

// "[Step 2/4] RSS: 211 MB" in every line: the step is where a build stands, and no clock.
bool stands_at_one_step(const Run& run) {
  constexpr size_t kFewest = 6;
  return run.instants.size() >= kFewest && run.instants.front().step >= 0 &&
         std::all_of(run.instants.begin(), run.instants.end(),
                     [&run](const Instant& at) { return at.step == run.instants.front().step; });
}

bool has_guessed_unit(const Run& run) {
  return std::any_of(run.notes.begin(), run.notes.end(), [](const std::string& note) {
    return note.find("has no unit") != std::string::npos;
  });
}

// A number whose unit was guessed and that is the same to the last digit in all of many lines: an
// id, or a size. An all-clear by it would be certain, whatever the memory does.
bool never_moves(const Run& run) {
  constexpr size_t kMany = 20;
  if (run.instants.size() < kMany || run.processes.size() != 1 || run.series.size() != 1)
    return false;
  const std::vector<double>& mb = run.series.front().mb;
  return has_guessed_unit(run) &&
         std::all_of(mb.begin(), mb.end(), [&mb](double value) { return value == mb.front(); });
}

// Nothing but zeros: what was taken is not in use here.
bool is_dead(const Run& run) {
  return std::all_of(run.series.begin(), run.series.end(), [](const Series& series) {
    return std::all_of(series.mb.begin(), series.mb.end(),
                       [](double mb) { return std::isnan(mb) || mb == 0; });
  });
}

// What was taken for its clock goes back every few lines: it counts something else.
bool runs_wild(const Runs& runs) {
  constexpr size_t kFewestOfARun = 6;
  return runs.size() > 2 && runs.size() * kFewestOfARun > samples_in(runs);
}

// Whether the figures go to and fro by nearly as much as they ever differ: several things in turn,
// read as one. A course of one thing goes such a way once, and noise a third of it at each step. Of
// one large thing and some small ones the path is shorter; but each of as many as come in a turn,
// taken by itself, runs smoother.
bool leaps(const Run& run, size_t in_turn) {
  constexpr double kOfSpread = 0.4;
  if (run.processes.size() > 1 || run.series.empty()) return false;
  std::vector<double> course;
  for (const double mb : run.series.front().mb) {
    if (!std::isnan(mb)) course.push_back(mb);
  }
  if (course.size() < 2) return false;
  double path = 0;
  for (size_t i = 1; i < course.size(); ++i) path += std::abs(course[i] - course[i - 1]);
  const auto [least, most] = std::minmax_element(course.begin(), course.end());
  if (path > kOfSpread * static_cast<double>(course.size() - 1) * (*most - *least)) return true;
  if (in_turn < 2 || course.size() < 4 * in_turn) return false;
  std::vector<uint64_t> turns(course.size());
  for (size_t i = 0; i < turns.size(); ++i) turns[i] = i % in_turn;
  return smoothing(course, turns) < kSmoother;
}

}  // namespace

size_t samples_in(const std::vector<Run>& runs) {
  size_t samples = 0;
  for (const Run& run : runs) samples += run.instants.size();
  return samples;
}

bool reads_better(const Reading& reading, const Result<std::vector<Run>>& by_format) {
  if (!reading.has_memory) return false;
  if (!by_format || samples_in(by_format.value()) < 2) return true;
  const Runs& runs = by_format.value();
  const Run& largest = *std::max_element(runs.begin(), runs.end(), [](const Run& a, const Run& b) {
    return a.instants.size() < b.instants.size();
  });
  if (largest.processes.size() <= 1 && reading.series != SeriesBy::nothing) return true;
  if (stands_at_one_step(largest)) return true;
  if (reading.moves && (never_moves(largest) || is_dead(largest))) return true;
  if (runs_wild(runs) && reading.expected * 10 >= samples_in(runs) * 9) return true;
  const bool guessed = has_guessed_unit(largest);
  if (guessed && reading.sure) return true;
  const bool has_clock =
      reading.stamps || reading.step_column != kNoColumn || reading.time_column != kNoColumn;
  const bool numbered = std::find(largest.notes.begin(), largest.notes.end(), kNumberedInOrder) !=
                        largest.notes.end();
  if (numbered && has_clock && reading.sure) return true;
  // It took another figure for the memory, or another unit.
  if (!takes_the_same(reading, largest)) {
    if (reading.sure && (numbered || has_clock)) return true;
    if (guessed && reading.weight >= kSure) return true;
    if (took_bytes_for_kib(reading, largest)) return true;
  }
  if (reading.own_numerals) return true;
  // It has mixed what the words before the name tell apart, or its course leaps between several.
  const bool mixed = samples_in(runs) * 20 > reading.expected * 21;
  const size_t in_turn = samples_in(runs) / std::max<size_t>(1, reading.expected);
  if (mixed && ((reading.sure && reading.told_apart) || leaps(largest, in_turn))) return true;
  const size_t read = samples_in(runs) * std::max<size_t>(1, largest.processes.size());
  return read * 3 < reading.expected * (reading.sure ? 2 : 1);
}

}  // namespace plateau
