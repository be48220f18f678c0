// SPDX-License-Identifier: Apache-2.0
// What rises with the memory: a step, a time, or nothing.
//
// A clock never goes back within one series (nine of ten times; restarts may) and moves on with
// nearly every reading. A column is a candidate by the word nearest to it ("step", "Request #",
// "elapsed"), by being a time, or by counting seconds since 1970. It may stand in a line above the
// memory's; then the last one seen holds. One that repeats itself for several readings of one
// series orders nothing, unless each value comes equally often: then these are series without a
// name, and the report says so.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "base/statistics.h"
#include "base/text.h"
#include "import/reading_parts.h"

namespace plateau {
namespace {

struct Course {
  double forward = 0;  // Share of steps within a series that do not go back,
  double moves = 0;    // and that go on.
  size_t present = 0;  // Readings that have one.
  double typical_s = 0;
};

Course course_of(const std::vector<double>& clock, const std::vector<uint64_t>& labels) {
  Course course;
  std::unordered_map<uint64_t, double> last;
  std::vector<double> steps;
  size_t forward = 0;
  size_t moves = 0;
  for (size_t i = 0; i < clock.size(); ++i) {
    if (std::isnan(clock[i])) continue;
    ++course.present;
    const auto [found, is_new] = last.try_emplace(labels.empty() ? 0 : labels[i], clock[i]);
    if (is_new) continue;
    const double step = clock[i] - found->second;
    forward += step >= 0 ? 1 : 0;
    moves += step > 0 ? 1 : 0;
    steps.push_back(step);
    found->second = clock[i];
  }
  if (steps.empty()) return course;
  course.forward = static_cast<double>(forward) / static_cast<double>(steps.size());
  course.moves = static_cast<double>(moves) / static_cast<double>(steps.size());
  course.typical_s = upper_median(steps);
  return course;
}

// The first reading of every row, where a row holds pairs of which one is taken: else a clock would
// stand still every other time.
template <typename T>
std::vector<T> once_a_row(const std::vector<T>& values, const std::vector<uint32_t>& rows) {
  std::vector<T> out;
  out.reserve(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (i == 0 || rows[i] != rows[i - 1]) out.push_back(values[i]);
  }
  return out;
}

// What `column` says in the row of each reading of `memory`; with `carried`, the last said before.
std::vector<double> beside(const Sheet& sheet, uint32_t memory, uint32_t column, bool carried) {
  const SheetColumn& from = sheet.columns[column];
  std::vector<double> out;
  out.reserve(sheet.columns[memory].rows.size());
  size_t at = 0;
  double last = kMissing;
  for (const uint32_t row : sheet.columns[memory].rows) {
    if (!carried) last = kMissing;
    while (at < from.rows.size() && from.rows[at] <= row) {
      if (carried || from.rows[at] == row) last = from.values[at];
      ++at;
    }
    // Several readings of one row share what their row says.
    if (!carried && std::isnan(last) && at > 0 && from.rows[at - 1] == row)
      last = from.values[at - 1];
    out.push_back(last);
  }
  return out;
}

std::vector<double> stamps_of(const Sheet& sheet, uint32_t memory, bool carried) {
  std::vector<double> out;
  out.reserve(sheet.columns[memory].rows.size());
  TimeTrack track;
  size_t at = 0;
  double last = kMissing;
  for (const uint32_t row : sheet.columns[memory].rows) {
    if (!carried) last = kMissing;
    for (; at <= row && at < sheet.rows.size(); ++at) {
      if (!sheet.rows[at].has_time || (!carried && at < row)) continue;
      last = track.accept(sheet.rows[at].time);
    }
    if (!carried && std::isnan(last) && row < sheet.rows.size() && sheet.rows[row].has_time) {
      last = track.accept(sheet.rows[row].time);
    }
    out.push_back(last);
  }
  return out;
}

bool is_clock(const Course& course, size_t readings) {
  return course.present * 10 >= readings * 8 && course.forward >= 0.85 && course.moves >= 0.75;
}

// Each value of the clock comes `times` times, nearly always; 0 if they do not.
size_t comes_equally_often(const std::vector<double>& clock) {
  std::map<size_t, size_t> lengths;
  size_t run = 1;
  for (size_t i = 1; i < clock.size(); ++i) {
    if (clock[i] == clock[i - 1]) {
      ++run;
      continue;
    }
    ++lengths[run];
    run = 1;
  }
  ++lengths[run];
  size_t groups = 0;
  size_t times = 0;
  size_t most = 0;
  for (const auto& [length, count] : lengths) {
    groups += count;
    if (count <= most) continue;
    most = count;
    times = length;
  }
  return times >= 2 && times <= 64 && groups >= 3 && most * 10 >= groups * 7 ? times : 0;
}

struct Candidate {
  uint32_t column = kNoColumn;
  bool carried = false;
  double rank = 0;
  Course course;
};

// What a column is by its name and its first value; rank 0: no clock.
struct Claim {
  double rank = 0;
  bool is_step = false;
  bool carried = false;  // It stands in other lines than the memory.
};

Claim claim_of(const SheetColumn& column, const SheetColumn& memory, bool asked) {
  using Clock = SlotName::Clock;
  const bool of_memory = column.name.memory && column.ordinal == 0;
  const bool from_1970 = !of_memory && epoch_seconds(column.values.front()).has_value() &&
                         column.values.front() >= 1e9;
  const bool carried =
      column.rows.size() * 10 < memory.rows.size() * 8 || !stand_together(column, memory);
  const double rank = (carried ? 1 : 3) + (asked ? 100 : 0);
  if (column.name.clock == Clock::step && column.decimals == 0) return {rank + 2, true, carried};
  // "'epoch': 0.05": as whole steps twenty of them would be one.
  const bool epochs = column.name.clock == Clock::epoch && column.decimals == 0;
  if (epochs || (asked && !from_1970)) return {rank, true, carried};
  if (from_1970) return {rank + 3, false, carried};
  // "Uptime: 3h 25m": minutes behind the hours start again.
  if (column.name.clock == Clock::time && column.ordinal == 0) return {rank + 1, false, carried};
  const bool bare_time = column.title.empty() && column.other_units * 2 > column.values.size();
  return {bare_time ? rank : 0, false, carried};
}

// Whether the readings under one time are of several things: taken one by one, the first of each
// time, the second and so on, they run smoother. Else they are one thing, read several times.
bool are_several(const SheetColumn& memory, const std::vector<double>& clock, double bare_mb) {
  std::vector<uint64_t> labels(clock.size(), 0);
  std::vector<double> mb(clock.size());
  for (size_t i = 0; i < clock.size(); ++i) {
    mb[i] = memory.mb(i, bare_mb);
    if (i > 0 && clock[i] == clock[i - 1]) labels[i] = labels[i - 1] + 1;
  }
  return smoothing(mb, labels) < kSmoother;
}

bool settle_occurrences(const std::vector<double>& clock, Reading& reading) {
  if (reading.series != SeriesBy::nothing || reading.pair != PairTakes::all) return false;
  const size_t times = comes_equally_often(clock);
  if (times == 0) return false;
  reading.series = SeriesBy::occurrence;
  reading.remarks.push_back(
      fmt::format("each step or time comes {} times and nothing says whose it is: read as {} "
                  "series in the order of their lines",
                  times, times));
  return true;
}

// Times that come equally often: of several things, or of one that is read several times.
bool settle_times(const SheetColumn& memory, const std::vector<double>& times, Reading& reading) {
  if (comes_equally_often(times) == 0) return false;
  return !are_several(memory, times, reading.memory.front().bare_mb) ||
         settle_occurrences(times, reading);
}

// Takes the times that stand in the lines, or in lines above them, if they are a clock.
void take_stamps(const Sheet& sheet, uint32_t memory, const std::vector<uint64_t>& labels,
                 Reading& reading) {
  const std::vector<uint32_t>& rows = sheet.columns[memory].rows;
  const bool pairs = reading.pair != PairTakes::all;
  const bool alone = reading.step_column == kNoColumn && reading.time_column == kNoColumn;
  for (const bool carried : {false, true}) {
    std::vector<double> times = stamps_of(sheet, memory, carried);
    if (pairs) times = once_a_row(times, rows);
    const Course stamps = course_of(times, labels);
    if (stamps.present * 10 < times.size() * 8 || stamps.forward < 0.85) continue;
    if (!is_clock(stamps, times.size()) &&
        !(alone && settle_times(sheet.columns[memory], times, reading))) {
      continue;
    }
    reading.time_column = kNoColumn;
    reading.stamps = true;
    reading.carried_time = carried;
    reading.round_s = stamps.typical_s;
    return;
  }
}

}  // namespace

void choose_clock(const Sheet& sheet, uint32_t memory, const ReadingWishes& wishes,
                  Reading& reading) {
  if (equal_ignoring_case(wishes.clock, "none")) return;
  const std::vector<uint32_t>& rows = sheet.columns[memory].rows;
  const bool pairs = reading.pair != PairTakes::all;
  std::vector<uint64_t> labels = labels_of(sheet, memory, reading);
  if (pairs && !labels.empty()) labels = once_a_row(labels, rows);
  const size_t readings = pairs ? once_a_row(rows, rows).size() : rows.size();
  const bool chain = sheet.columns[memory].arrows > 0 && reading.pair == PairTakes::all;

  Candidate step;
  Candidate time;
  const auto consider = [&](uint32_t column, bool carried, double rank, bool is_step) {
    std::vector<double> clock = beside(sheet, memory, column, carried);
    if (pairs) clock = once_a_row(clock, rows);
    const Course course = course_of(clock, labels);
    Candidate& best = is_step ? step : time;
    if (!is_clock(course, readings)) {
      const bool repeats = course.present * 10 >= readings * 8 && course.forward >= 0.85;
      // A bar's percentage stands still by itself.
      const bool percent = sheet.columns[column].percents > 0;
      if (is_step && !carried && repeats && !chain && !percent && best.rank == 0) {
        if (settle_occurrences(clock, reading)) reading.step_column = column;
      }
      return;
    }
    if (rank > best.rank) best = {column, carried, rank, course};
  };
  for (uint32_t i = 0; i < sheet.columns.size(); ++i) {
    const SheetColumn& column = sheet.columns[i];
    if (i == memory || i == reading.series_column || column.values.size() < 3) continue;
    const bool asked =
        !wishes.clock.empty() && equal_ignoring_case(trim(column.title), wishes.clock);
    if (!wishes.clock.empty() && !asked) continue;
    const Claim claim = claim_of(column, sheet.columns[memory], asked);
    if (claim.rank > 0) consider(i, claim.carried, claim.rank, claim.is_step);
  }
  if (reading.series == SeriesBy::occurrence && step.rank == 0) return;
  if (reading.series == SeriesBy::occurrence) reading.series = SeriesBy::nothing;
  reading.step_column = step.column;
  reading.carried_step = step.carried;
  reading.time_column = time.column;
  reading.carried_time = time.carried;
  reading.round_s = time.course.typical_s;
  if (time.column != kNoColumn) reading.time_scale = sheet.columns[time.column].name.time_scale;
  if (!wishes.clock.empty()) return;
  if (!chain && time.rank < 6) take_stamps(sheet, memory, labels, reading);
  // Collections that run beside others end in another order than they are counted in.
  if (pairs && reading.stamps && step.course.forward < 1) reading.step_column = kNoColumn;
}

}  // namespace plateau
