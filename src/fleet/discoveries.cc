// SPDX-License-Identifier: Apache-2.0
#include "fleet/discoveries.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace plateau::fleet {
namespace {

constexpr int kRounds = 200;  // It moves by less than a thousandth of itself long before.

std::vector<size_t> in_order(size_t count, const auto& before) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), before);
  return order;
}

// The share that makes the factors as a whole likeliest: each in turn is given its probability, and
// the share their mean. As if one more had been seen that does not leak: a fleet of leaks alone
// tells nothing of others.
double likeliest_null_share(std::span<const Suspicion> all) {
  double leaks = 0.5;
  for (int round = 0; round < kRounds; ++round) {
    double sum = 0;
    for (const Suspicion& each : all) {
      const double weight = leaks * std::exp(each.log_factor);
      sum += weight / (1 - leaks + weight);
    }
    leaks = sum / static_cast<double>(all.size() + 1);
  }
  return 1 - leaks;
}

// The largest share of the smallest factors whose mean is below 1.
double cautious_null_share(std::span<const Suspicion> all, const std::vector<size_t>& falling) {
  double sum = 0;
  size_t count = 0, null = 0;
  for (auto at = falling.rbegin(); at != falling.rend(); ++at) {
    sum += std::exp(all[*at].log_factor);
    ++count;
    if (sum < static_cast<double>(count)) null = count;
  }
  return static_cast<double>(null + 1) / static_cast<double>(all.size() + 1);
}

double probability_of(const Suspicion& suspicion, double null_share) {
  if (null_share >= 1) return 0;
  const double log_odds = std::log1p(-null_share) - std::log(null_share) + suspicion.log_factor;
  return (1 - suspicion.still_filling) / (1 + std::exp(-log_odds));
}

}  // namespace

double log_mean_factor(std::span<const double> log_factors) {
  const double high = *std::max_element(log_factors.begin(), log_factors.end());
  double sum = 0;
  for (const double log_factor : log_factors) sum += std::exp(log_factor - high);
  return high + std::log(sum / static_cast<double>(log_factors.size()));
}

Discoveries discover(std::span<const Suspicion> all, double most_false) {
  Discoveries found;
  found.bounded.resize(all.size());
  if (all.empty()) return found;
  const std::vector<size_t> falling = in_order(
      all.size(), [&](size_t a, size_t b) { return all[a].log_factor > all[b].log_factor; });
  found.null_share = likeliest_null_share(all);
  found.cautious_null_share = cautious_null_share(all, falling);
  for (const Suspicion& each : all) {
    found.leak_probability.push_back(probability_of(each, found.null_share));
  }
  const std::vector<double>& q = found.leak_probability;
  double doubt = 0;
  for (const size_t i : in_order(all.size(), [&](size_t a, size_t b) { return q[a] > q[b]; })) {
    if (!all[i].accused) continue;
    const double more = doubt + (1 - q[i]);
    if (more > most_false * static_cast<double>(found.listed.size() + 1)) break;
    doubt = more;
    found.listed.push_back(i);
  }
  if (!found.listed.empty()) {
    found.expected_false_share = doubt / static_cast<double>(found.listed.size());
  }
  const double log_all = std::log(static_cast<double>(all.size()) / most_false);
  size_t certain = 0;
  for (size_t k = 0; k < falling.size(); ++k) {
    const double needed = log_all - std::log(static_cast<double>(k + 1));
    if (all[falling[k]].log_factor >= needed) certain = k + 1;
  }
  for (size_t k = 0; k < certain; ++k) found.bounded[falling[k]] = all[falling[k]].accused;
  return found;
}

}  // namespace plateau::fleet
