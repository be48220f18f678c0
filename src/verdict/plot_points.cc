// SPDX-License-Identifier: Apache-2.0
#include "verdict/plot_points.h"

#include <algorithm>

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
  const std::vector<TimedValue>& points = file.component().points;
  const std::vector<Spike>& spikes = file.decision().floors.spikes;
  const auto put = [&](const TimedValue& p) {
    verdict.plot.push_back({p.at, p.mb, in_spike(spikes, p.at)});
  };
  if (points.size() <= kMostPoints) {
    for (const TimedValue& point : points) put(point);
  } else {
    const size_t stretches = kMostPoints / 2;
    for (size_t s = 0; s < stretches; ++s) {
      const auto begin =
          points.begin() + static_cast<std::ptrdiff_t>(points.size() * s / stretches);
      const auto end =
          points.begin() + static_cast<std::ptrdiff_t>(points.size() * (s + 1) / stretches);
      auto [low, high] = std::minmax_element(
          begin, end, [](const TimedValue& a, const TimedValue& b) { return a.mb < b.mb; });
      if (high < low) std::swap(low, high);
      put(*low);
      if (low != high) put(*high);
    }
  }
  for (const Event& event : file.run->events) {
    verdict.marks.push_back({file.signals->clock_of_instant[event.instant], event.kind});
  }
}

}  // namespace plateau
