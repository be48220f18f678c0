// SPDX-License-Identifier: Apache-2.0
#include "verdict/plot_points.h"

#include <algorithm>

#include "base/thinning.h"

namespace plateau {
namespace {

constexpr size_t kMostPoints = 2000;

bool in_spike(const std::vector<Spike>& spikes, double at) {
  const auto after = std::upper_bound(spikes.begin(), spikes.end(), at,
                                      [](double t, const Spike& spike) { return t < spike.from; });
  return after != spikes.begin() && at <= std::prev(after)->to;
}

}  // namespace

void fill_plot(const CaseFile& file, Verdict& verdict) {
  const std::vector<TimedValue>& points = file.shown();
  const std::vector<Spike>& spikes = file.decision().floors.spikes;
  const auto put = [&](const TimedValue& p) {
    verdict.plot.push_back({p.at, p.mb, in_spike(spikes, p.at)});
  };
  if (points.size() <= kMostPoints) {
    for (const TimedValue& point : points) put(point);
  } else {
    const size_t stretches = kMostPoints / 2;
    for (size_t s = 0; s < stretches; ++s) {
      const std::optional<Extremes> found = extremes_in(nth_stretch(points.size(), stretches, s),
                                                        [&](size_t i) { return points[i].mb; });
      if (!found) continue;
      put(points[std::min(found->lowest, found->highest)]);
      if (found->lowest != found->highest) put(points[std::max(found->lowest, found->highest)]);
    }
  }
  for (const Event& event : file.run->events) {
    verdict.marks.push_back({file.signals->clock_of_instant[event.instant], event.kind});
  }
}

}  // namespace plateau
