// SPDX-License-Identifier: Apache-2.0
#include "oracle.h"

#include <algorithm>
#include <cmath>

#include "base/statistics.h"
#include "rivals.h"
#include "verdict/decision.h"

namespace plateau::bench {
namespace {

constexpr size_t kMedianOver = 7;
constexpr double kLeastNoiseMb = 0.05;
constexpr double kMostCorrelated = 0.95;

struct TrueNoise {
  double deviation_mb = 0;  // Of what is new in each sample.
  double phi = 0;
};

TrueNoise noise_of(const Curve& curve) {
  const size_t n = curve.mb.size();
  std::vector<double> left(n);
  for (size_t i = 0; i < n; ++i) {
    const size_t from = i >= kMedianOver / 2 ? i - kMedianOver / 2 : 0;
    const size_t to = std::min(n, i + kMedianOver / 2 + 1);
    std::vector<double> window(curve.mb.begin() + static_cast<std::ptrdiff_t>(from),
                               curve.mb.begin() + static_cast<std::ptrdiff_t>(to));
    left[i] = curve.mb[i] - upper_median(window);
  }
  double square = 0, product = 0;
  for (size_t i = 0; i < n; ++i) square += left[i] * left[i];
  for (size_t i = 1; i < n; ++i) product += left[i] * left[i - 1];
  const double phi = std::clamp(square > 0 ? product / square : 0.0, 0.0, kMostCorrelated);
  const double variance = square / static_cast<double>(n) * (1 - phi * phi);
  return {std::max(std::sqrt(variance), kLeastNoiseMb), phi};
}

// Where the two twins part, and by how much a step; a rate of 0 if there is nothing to tell apart.
struct Parting {
  double at = 0;
  double rate = 0;
};

Parting parting_of(const Trace& trace, const Curve& curve) {
  if (trace.leak) {
    const bool within_pass = trace.epoch_steps > trace.onset_step;
    return {within_pass ? trace.epoch_steps : trace.onset_step, trace.rate_mb_per_step};
  }
  if (trace.ended_step < 0) return {};
  const double ended = std::max(trace.ended_step, curve.at.front());
  const double highest = *std::max_element(curve.mb.begin(), curve.mb.end());
  const double rise = highest - curve.mb.front();
  const double material = std::max(kMaterialMb, kMaterialShare * highest);
  if (rise <= material || ended <= curve.at.front()) {
    return {curve.at.front(), material / (curve.at.back() - curve.at.front())};
  }
  return {ended, rise / (ended - curve.at.front() + 1)};
}

}  // namespace

std::optional<double> oracle_decides(const Trace& trace) {
  const Curve curve = tree_curve(trace.run);
  if (curve.at.size() < kMinSamples) return std::nullopt;
  const TrueNoise noise = noise_of(curve);
  const Parting parting = parting_of(trace, curve);
  if (parting.rate <= 0) return std::nullopt;
  const double needed = std::log((1 - Policy().false_leak) / Policy().false_leak);
  // Sums over the whitened constant and difference.
  double cc = 0, cd = 0, dd = 0, before = 0;
  for (size_t i = 0; i < curve.at.size(); ++i) {
    const double apart = parting.rate * std::max(0.0, curve.at[i] - parting.at);
    const double c = i == 0 ? std::sqrt(1 - noise.phi * noise.phi) : 1 - noise.phi;
    const double d = i == 0 ? c * apart : apart - noise.phi * before;
    cc += c * c, cd += c * d, dd += d * d;
    before = apart;
    const double evidence = (dd - cd * cd / cc) / (2 * noise.deviation_mb * noise.deviation_mb);
    if (i + 1 >= kMinSamples && evidence >= needed) return curve.at[i];
  }
  return std::nullopt;
}

}  // namespace plateau::bench
