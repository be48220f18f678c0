// SPDX-License-Identifier: Apache-2.0
#include "import/endings.h"

#include <fmt/format.h>

#include <cmath>

namespace plateau {
namespace {

constexpr double kLeft = 0.25;       // Of what was held before: less is an end,
constexpr double kNotAgain = 0.5;    // if this much never comes back.
constexpr size_t kMostGoing = 8;     // Readings that an end may take.
constexpr size_t kFewestBefore = 8;  // Readings; fewer are a start, not a life.

void leave_out_zeros(Run& run) {
  const auto is_gone = [&run](size_t row) {
    bool any = false;
    for (const Series& series : run.series) {
      if (std::isnan(series.mb[row])) continue;
      if (series.mb[row] > 0) return false;
      any = true;
    }
    return any;
  };
  size_t rows = run.instants.size();
  while (rows > 0 && is_gone(rows - 1)) --rows;
  if (rows == 0 || rows == run.instants.size()) return;
  run.notes.push_back(fmt::format("the last {} 0: the process had ended; left out",
                                  run.instants.size() - rows == 1 ? "sample is" : "samples are"));
  cut_to(run, rows);
}

// Where the one fall is that ends a life; 0 if there is none or more than one.
size_t end_in(const std::vector<double>& mb) {
  size_t found = 0;
  double before = kMissing;
  for (size_t i = 0; i < mb.size(); ++i) {
    if (std::isnan(mb[i])) continue;
    if (mb[i] < kLeft * before) {
      // A large process takes several readings to go.
      const bool still_going = found != 0 && i - found <= kMostGoing;
      if ((found != 0 && !still_going) || i < kFewestBefore) return 0;
      if (!still_going) found = i;
    }
    before = mb[i];
  }
  if (found == 0) return 0;
  for (size_t i = found; i < mb.size(); ++i) {
    if (mb[i] > kNotAgain * mb[found - 1]) return 0;
  }
  return found;
}

void drop_first(Run& run, size_t count) {
  const auto shorten = [count](auto& values) {
    values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count));
  };
  shorten(run.instants);
  for (Series& series : run.series) shorten(series.mb);
  for (Gauge& gauge : run.gauges) shorten(gauge.value);
  std::erase_if(run.events, [count](const Event& event) { return event.instant < count; });
  for (Event& event : run.events) event.instant -= count;
}

}  // namespace

void mark_endings(Run& run) {
  leave_out_zeros(run);
  if (run.processes.size() != 1 || run.series.empty() || run.instants.empty()) return;
  const size_t end = end_in(run.series[0].mb);
  if (end == 0) return;
  const bool tail = run.instants.size() - end > end;
  if (tail) {
    drop_first(run, end);
  } else {
    cut_to(run, end);
  }
  run.notes.push_back(
      fmt::format("memory fell to less than a quarter at once and did not come back: something "
                  "ended there; the "
                  "{} part is judged",
                  tail ? "later" : "earlier"));
}

}  // namespace plateau
