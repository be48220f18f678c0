// SPDX-License-Identifier: Apache-2.0
#include "report/cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace plateau {
namespace {

// One past the last row that has a value.
size_t rows_read(const Gauge& gauge) {
  size_t rows = gauge.value.size();
  while (rows > 0 && !std::isfinite(gauge.value[rows - 1])) --rows;
  return rows;
}

// The gauge of this name that was read last: the root may have been replaced on the way.
const Gauge* gauge_of(const Run& run, std::string_view name) {
  const Gauge* found = nullptr;
  for (const Gauge& gauge : run.gauges) {
    if (gauge.name != name || rows_read(gauge) == 0) continue;
    if (found == nullptr || rows_read(gauge) > rows_read(*found)) found = &gauge;
  }
  return found;
}

}  // namespace

std::string cost_sentence(const WatchCost& cost) {
  return fmt::format("watching took {:.2f} % of one core, page walks {:.2f} % of the job's time",
                     100 * cost.cpu_share, 100 * cost.walk_share);
}

std::optional<WatchCost> recorded_cost(const Run& run) {
  const Gauge* cpu = gauge_of(run, kCostCpu);
  const Gauge* walks = gauge_of(run, kCostWalks);
  if (cpu == nullptr || walks == nullptr || !run.has_times()) return std::nullopt;
  const size_t last = rows_read(*cpu) - 1;
  // When this value was measured: the first row that carries it.
  size_t row = last;
  while (row > 0 && cpu->value[row - 1] == cpu->value[row]) --row;
  // A cost too small to be written again since the start is spread over the whole run.
  if (row == 0) row = last;
  const double elapsed_s = run.instants[row].time_s - run.instants.front().time_s;
  if (!(elapsed_s > 0) || !std::isfinite(walks->value[row])) return std::nullopt;
  return WatchCost{cpu->value[row] / elapsed_s, walks->value[row]};
}

}  // namespace plateau
