// SPDX-License-Identifier: Apache-2.0
#include "verdict/processes.h"

#include <algorithm>
#include <optional>

#include "base/statistics.h"
#include "verdict/lives.h"

namespace plateau {
namespace {

// What is held at a place, apart from what passes through in one or two samples.
constexpr size_t kStretch = 3;

double held_at(const std::vector<TimedValue>& points, size_t place) {
  return opened_at(points.size(), [&](size_t i) { return points[i].mb; }, place, kStretch);
}

// `ended`: the clock at which it ended and nothing took its place; what it had grown by then
// counts.
ProcessGrowth measure(const Process& process, const std::vector<TimedValue>& points, double from,
                      double to, double slack, std::optional<double> ended) {
  ProcessGrowth growth{
      .id = process.id, .id_is_pid = process.id_is_pid, .name = process.name, .role = process.role};
  size_t first = points.size(), last = points.size();
  for (size_t i = 0; i < points.size(); ++i) {
    if (points[i].at < from || points[i].at > to) continue;
    if (first == points.size()) first = i;
    last = i;
  }
  if (first == points.size()) return growth;
  const bool was_there = points[first].at <= from + slack;
  const bool still_there = points[last].at >= to - slack;
  growth.first_mb = was_there ? held_at(points, first) : 0;
  growth.last_mb = still_there || ended ? held_at(points, last) : 0;
  // One that ends gives back all it has first, at once or object by object.
  for (size_t back = 0; ended && back < kMostExiting && last > first; ++back) {
    if (!(points[last].mb < points[last - 1].mb)) break;
    --last;
    growth.last_mb = std::max(growth.last_mb, held_at(points, last));
  }
  growth.ended_step = ended;
  growth.growth_mb = growth.last_mb - growth.first_mb;
  return growth;
}

}  // namespace

std::vector<ProcessGrowth> growth_by_process(const CaseFile& file, double from, double to) {
  const std::vector<std::vector<TimedValue>>& owned = file.signals->owned_of_process;
  const std::vector<Process>& processes = file.run->processes;
  std::vector<ProcessGrowth> list;
  const double slack = (to - from) * 0.05;
  double total = 0;
  std::vector<std::optional<double>> ended(processes.size());
  for (const EndedPart& part : file.signals->lives.ended) {
    for (const size_t p : part.processes) {
      ended[p] = file.signals->clock_of_instant[part.instant];
    }
  }
  for (size_t p = 0; p < processes.size(); ++p) {
    const std::vector<bool>& replaced = file.signals->lives.replaced;
    // A worker that was replaced, or replaced one, has only held its place.
    if (owned[p].empty() || (p < replaced.size() && replaced[p])) continue;
    list.push_back(measure(processes[p], owned[p], from, to, slack, ended[p]));
    total += std::max(0.0, list.back().growth_mb);
  }
  for (ProcessGrowth& growth : list) {
    growth.share = total > 0 ? std::max(0.0, growth.growth_mb) / total : 0;
  }
  std::stable_sort(list.begin(), list.end(), [](const ProcessGrowth& a, const ProcessGrowth& b) {
    return a.growth_mb > b.growth_mb;
  });
  return list;
}

}  // namespace plateau
