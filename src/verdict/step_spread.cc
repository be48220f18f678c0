// SPDX-License-Identifier: Apache-2.0
#include "verdict/step_spread.h"

#include <algorithm>
#include <cstddef>

#include "verdict/decision.h"
#include "verdict/signal.h"

namespace plateau {
namespace {

// The first instant of each stretch at one step; empty if steps or times go back.
std::vector<size_t> marks_of(const Run& run) {
  std::vector<size_t> marks = {0};
  for (size_t i = 1; i < run.instants.size(); ++i) {
    const Instant& before = run.instants[i - 1];
    const Instant& now = run.instants[i];
    if (now.step < before.step || !(now.time_s >= before.time_s)) return {};
    if (now.step > before.step) marks.push_back(i);
  }
  return marks;
}

bool are_rare(const std::vector<size_t>& marks, size_t instants) {
  return marks.size() > 2 && marks.size() < kMinSamplesOfLeak &&
         instants >= kSamplesAMark * marks.size();
}

}  // namespace

std::vector<double> step_clock(const Run& run) {
  std::vector<double> clock(run.instants.size());
  for (size_t i = 0; i < clock.size(); ++i) clock[i] = static_cast<double>(run.instants[i].step);
  if (!run.has_times()) return clock;
  const std::vector<size_t> marks = marks_of(run);
  if (!are_rare(marks, clock.size())) return clock;
  double widest = 0;
  for (size_t m = 1; m + 1 < marks.size(); ++m) {
    const double from = clock[marks[m]], gap = clock[marks[m + 1]] - from;
    const double from_s = run.instants[marks[m]].time_s;
    const double took_s = run.instants[marks[m + 1]].time_s - from_s;
    widest = std::max(widest, gap);
    for (size_t i = marks[m] + 1; took_s > 0 && i < marks[m + 1]; ++i) {
      clock[i] = from + gap * (run.instants[i].time_s - from_s) / took_s;
    }
  }
  if (is_over(run)) return clock;
  const Instant& first = run.instants[marks[1]];
  const Instant& last = run.instants[marks.back()];
  const double took_s = last.time_s - first.time_s;
  const double pace = took_s > 0 ? static_cast<double>(last.step - first.step) / took_s : 0;
  for (size_t i = marks.back() + 1; i < clock.size(); ++i) {
    clock[i] += std::min(widest, pace * (run.instants[i].time_s - last.time_s));
  }
  return clock;
}

}  // namespace plateau
