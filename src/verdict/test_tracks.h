// SPDX-License-Identifier: Apache-2.0
// Heap tracks made by hand, for tests of this room and of those that show its verdicts.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "recording/heap_track.h"
#include "verdict/test_runs.h"

namespace plateau {

// A track of `rows` rows, one every `every` steps and seconds; sites are added one by one.
class TrackMaker {
 public:
  explicit TrackMaker(size_t rows, int64_t every = 5, bool stepped = true) {
    track_.pid = 4242;
    track_.exact = true;
    for (size_t i = 0; i < rows; ++i) {
      const int64_t step = every * static_cast<int64_t>(i);
      track_.rows.push_back({.time_s = static_cast<double>(step), .step = stepped ? step : -1});
    }
  }

  // A site whose live MB follow `curve` of the step. Everything allocated stays until it falls.
  size_t add(const std::function<double(double)>& curve, double block_bytes = 1000) {
    HeapSite site{.stack = static_cast<uint32_t>(track_.stacks.size())};
    track_.stacks.push_back({.native = {0x1000 * (track_.stacks.size() + 1)}, .python = {}});
    const auto index = static_cast<uint32_t>(track_.sites.size());
    double before = 0;
    for (HeapRow& row : track_.rows) {
      const double live = std::max(0.0, curve(row.time_s)) * 1e6;
      if (live > 0) row.cells.push_back({index, live, live / block_bytes});
      (live > before ? site.allocated_bytes : site.freed_bytes) += std::fabs(live - before);
      site.peak_bytes = std::max(site.peak_bytes, live);
      before = live;
    }
    site.allocated_blocks = site.allocated_bytes / block_bytes;
    site.freed_blocks = site.freed_bytes / block_bytes;
    track_.sites.push_back(site);
    return index;
  }

  // The same as sampling sees it: what comes is met by samples `interval` apart on average, each
  // standing for `interval` bytes; what falls takes samples away in proportion.
  size_t add_sampled(const std::function<double(double)>& curve, double interval, uint64_t seed) {
    track_.exact = false;
    track_.interval_bytes = interval;
    Noise noise(seed);
    std::vector<double> estimates;
    double before = 0, until_sample = interval * exponential(noise), samples = 0;
    for (const HeapRow& row : track_.rows) {
      const double live = std::max(0.0, curve(row.time_s)) * 1e6;
      if (live > before) until_sample -= live - before;
      if (live < before) samples = before > 0 ? std::floor(samples * live / before) : 0;
      for (; until_sample <= 0; until_sample += interval * exponential(noise)) ++samples;
      estimates.push_back(samples * interval / 1e6);
      before = live;
    }
    size_t at = 0;
    const size_t index = add([&](double) { return estimates[at++]; }, interval);
    track_.sites[index].live_variance = samples * interval * interval;
    return index;
  }

  HeapSite& site(size_t index) { return track_.sites[index]; }
  HeapTrack& track() { return track_; }

 private:
  static double exponential(Noise& noise) { return -std::log((noise() + 1.000001) / 2.000002); }

  HeapTrack track_;
};

}  // namespace plateau
