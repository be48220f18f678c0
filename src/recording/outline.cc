// SPDX-License-Identifier: Apache-2.0
#include "recording/outline.h"

#include <algorithm>
#include <cmath>

#include "base/statistics.h"
#include "recording/pages.h"
#include "recording/run.h"

namespace plateau {
namespace {

constexpr size_t kFewestOfPart = 3;
// An end this close to the limit is one by the limit: samples lie before it.
constexpr double kAtTheLimit = 0.85;

std::vector<double> owned_by_instant(const Run& run) {
  std::vector<double> sum(run.instants.size(), kMissing);
  std::array<const Series*, kMetricCount> of_process{};
  for (size_t process = 0; process < run.processes.size(); ++process) {
    of_process.fill(nullptr);
    for (const Series& series : run.series) {
      if (series.process == process) of_process[static_cast<size_t>(series.metric)] = &series;
    }
    for (size_t i = 0; i < sum.size(); ++i) {
      const auto figure = [&](Metric metric) {
        const Series* series = of_process[static_cast<size_t>(metric)];
        return series != nullptr && i < series->mb.size() ? series->mb[i] : kMissing;
      };
      add_known(sum[i], amount_of(kOwnedPages, figure));
    }
  }
  return sum;
}

}  // namespace

std::optional<LifeOutline> outline_of(std::span<const double> at, std::span<const double> mb) {
  std::vector<size_t> known;
  for (size_t i = 0; i < std::min(at.size(), mb.size()); ++i) {
    if (std::isfinite(at[i]) && std::isfinite(mb[i])) known.push_back(i);
  }
  if (known.size() < LifeOutline::kParts * kFewestOfPart) return std::nullopt;
  LifeOutline outline;
  for (size_t part = 0; part < LifeOutline::kParts; ++part) {
    std::vector<double> clocks, values;
    const size_t end = (part + 1) * known.size() / LifeOutline::kParts;
    for (size_t k = part * known.size() / LifeOutline::kParts; k < end; ++k) {
      clocks.push_back(at[known[k]]);
      values.push_back(mb[known[k]]);
    }
    outline.at[part] = upper_median(clocks);
    outline.mb[part] = upper_median(values);
  }
  outline.length = at[known.back()] - at[known.front()];
  outline.end_mb = mb[known.back()];
  return outline;
}

std::optional<LifeOutline> outline_of(const Run& run) {
  const bool steps = run.has_steps();
  std::vector<double> at;
  at.reserve(run.instants.size());
  for (const Instant& instant : run.instants) {
    at.push_back(steps ? static_cast<double>(instant.step) : instant.time_s);
  }
  std::optional<LifeOutline> outline = outline_of(at, owned_by_instant(run));
  if (outline) outline->killed = killed_for_memory(run, 0, run.instants.size(), outline->end_mb);
  return outline;
}

bool killed_for_memory(const Run& run, size_t from, size_t to, double end_mb) {
  const std::optional<Fact>& limit = run.context.limit_mb;
  if (limit && limit->value > 0 && end_mb >= kAtTheLimit * limit->value) return true;
  // What is said when a life ends may stand at its last instant or at the first after it.
  return std::any_of(run.events.begin(), run.events.end(), [&](const Event& event) {
    return event.kind == EventKind::oom && event.instant + 1 >= to && event.instant <= to &&
           event.instant >= from;
  });
}

}  // namespace plateau
