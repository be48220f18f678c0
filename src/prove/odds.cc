// SPDX-License-Identifier: Apache-2.0
#include "prove/odds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

namespace plateau {
namespace {

constexpr double kSmallestRate = 0.03;  // MB a step: less drowns in pages and arenas.
constexpr double kLargestRate = 1e4;
constexpr size_t kRates = 360;  // 60 a decade: neighbours differ by 4 %, less than blocks do.
constexpr size_t kNoises = 14;
// MB a step: 100 KB in a block of 12. Forked workers unshare pages of the parent at that rate.
constexpr double kSmallestNoise = 0.008;
constexpr std::array<double, 2> kShareNoise = {0.02, 0.25};  // Of a block's own growth.
constexpr double kFreedom = 3;
constexpr std::array<double, 3> kWarmups = {0.3, 0.6, 1.0};  // Of the first block's growth,
constexpr std::array<double, 2> kFades = {0.3, 0.6};         // and what is left a block later.
constexpr double kSettled = 0.6;  // Share of jobs without a warm-up that fades.
constexpr double kMostOdds = 9999;
// A cache beside a leak is named if it adds at least this share to it.
constexpr double kSmallestAddition = 0.1;

// Of the best rate's likelihood: what is less adds nothing to a sum of 360 squared.
constexpr double kNegligible = 1e-9;

// Prior shares: none of the three answers is favoured, and both at once are rarer than each.
constexpr double kPriorLevel = 0.3;
constexpr double kPriorExample = 0.3;
constexpr double kPriorStep = 0.3;
constexpr double kPriorBoth = 0.1;

struct Reading {
  double y = 0;      // MB a step.
  double order = 0;  // Blocks before it.
};

struct Nuisance {
  double noise = 0;  // MB a step.
  double share = 0;  // Of the growth.
  double warmup = 0;
  double fade = 0;
};

std::array<double, kRates> all_rates() {
  const double step = std::log(kLargestRate / kSmallestRate) / (kRates - 1);
  std::array<double, kRates> rates{};
  for (size_t i = 0; i < kRates; ++i) {
    rates[i] = kSmallestRate * std::exp(step * static_cast<double>(i));
  }
  return rates;
}

double rate_at(size_t i) {
  static const std::array<double, kRates> rates = all_rates();
  return rates[i];
}

// Log density of the readings if memory grows by `rate` a step.
double log_likelihood(std::span<const Reading> readings, double rate, const Nuisance& nuisance) {
  const double share = nuisance.share * rate;
  const double scale = std::sqrt(nuisance.noise * nuisance.noise + share * share);
  double sum = 0;
  for (const Reading& reading : readings) {
    const double fading =
        nuisance.warmup > 0 ? nuisance.warmup * std::pow(nuisance.fade, reading.order) : 0;
    const double z = (reading.y - rate - fading) / scale;
    sum -= std::log(scale) + (kFreedom + 1) / 2 * std::log1p(z * z / kFreedom);
  }
  return sum;
}

// Likelihoods at rate 0 and at every rate, up to one common factor for all of them.
struct Table {
  double at_zero = 0;
  std::vector<double> at = std::vector<double>(kRates);
};

// In logarithms first: the density of five narrow blocks overflows nothing, but its square might.
Table table_of(std::span<const Reading> readings, const Nuisance& nuisance) {
  Table table;
  table.at_zero = std::exp(log_likelihood(readings, 0, nuisance));
  for (size_t i = 0; i < kRates; ++i) {
    table.at[i] = std::exp(log_likelihood(readings, rate_at(i), nuisance));
  }
  return table;
}

struct Evidence {
  double level = 0, example = 0, step = 0, both = 0;
  // Rates times evidence, of each hypothesis.
  double example_mb = 0, step_mb = 0, both_step_mb = 0, both_new_mb = 0;

  void add(const Evidence& other, double weight) {
    level += weight * other.level, example += weight * other.example;
    step += weight * other.step, both += weight * other.both;
    example_mb += weight * other.example_mb, step_mb += weight * other.step_mb;
    both_step_mb += weight * other.both_step_mb, both_new_mb += weight * other.both_new_mb;
  }
};

// Both rates at once: every decade of each alike, and the cache no less than a tenth of the leak.
void add_both(const Table& fresh, const Table& again, Evidence& evidence) {
  constexpr double kEach = 1.0 / kRates;
  const double decade = std::log(kLargestRate / kSmallestRate);
  const double width = decade / (kRates - 1);  // Of one rate, in logarithms.
  const double least_again = kNegligible * *std::max_element(again.at.begin(), again.at.end());
  const double least_fresh = kNegligible * *std::max_element(fresh.at.begin(), fresh.at.end());
  for (size_t s = 0; s < kRates; ++s) {
    if (again.at[s] <= least_again) continue;
    const double step = rate_at(s);
    const double least = std::max(kSmallestRate, kSmallestAddition * step);
    for (size_t t = s + 1; t < kRates; ++t) {
      const double sum = rate_at(t);
      const double added = sum - step;
      if (added < least || fresh.at[t] <= least_fresh) continue;
      // The prior is even in log(added); the table is even in log(sum).
      const double weight = kEach * width * sum / added / decade;
      const double likelihood = weight * again.at[s] * fresh.at[t];
      evidence.both += likelihood;
      evidence.both_step_mb += likelihood * step;
      evidence.both_new_mb += likelihood * added;
    }
  }
}

Evidence evidence_of(const Table& fresh, const Table& again) {
  constexpr double kEach = 1.0 / kRates;
  Evidence evidence;
  evidence.level = fresh.at_zero * again.at_zero;
  for (size_t i = 0; i < kRates; ++i) {
    const double example = kEach * fresh.at[i] * again.at_zero;
    const double step = kEach * fresh.at[i] * again.at[i];
    evidence.example += example;
    evidence.example_mb += example * rate_at(i);
    evidence.step += step;
    evidence.step_mb += step * rate_at(i);
  }
  add_both(fresh, again, evidence);
  return evidence;
}

struct Readings {
  std::vector<Reading> fresh, again;
  double largest = 0;  // Growth of any block, whatever its sign.
  double first = 0;    // Growth of the first one.
};

Readings readings_of(std::span<const BatchBlock> blocks) {
  Readings readings;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const bool is_new = blocks[i].kind == 'N' || blocks[i].kind == 'A';
    const Reading reading{blocks[i].mb_per_step, static_cast<double>(i)};
    (is_new ? readings.fresh : readings.again).push_back(reading);
    readings.largest = std::max(readings.largest, std::abs(reading.y));
  }
  if (!blocks.empty()) readings.first = blocks.front().mb_per_step;
  return readings;
}

// Every noise, with and without a warm-up that fades, with its prior weight.
Evidence all_evidence(const Readings& readings) {
  const double largest_noise = 2 * readings.largest + 2 * kSmallestNoise;
  const double ratio = std::log(largest_noise / kSmallestNoise) / (kNoises - 1);
  Evidence sum;
  const auto add = [&](const Nuisance& nuisance, double weight) {
    sum.add(evidence_of(table_of(readings.fresh, nuisance), table_of(readings.again, nuisance)),
            weight);
  };
  for (size_t i = 0; i < kNoises; ++i) {
    const double noise = kSmallestNoise * std::exp(ratio * static_cast<double>(i));
    for (const double share : kShareNoise) {
      add({noise, share, 0, 0}, kSettled);
      if (readings.first < kSmallestRate) continue;
      for (const double warmup : kWarmups) {
        for (const double fade : kFades) {
          add({noise, share, warmup * readings.first, fade},
              (1 - kSettled) / (kWarmups.size() * kFades.size()));
        }
      }
    }
  }
  return sum;
}

double likeliest(const GrowthOdds& odds) {
  return std::max({odds.level, odds.example, odds.growing()});
}

}  // namespace

std::string_view proved_name(Proved proved) {
  switch (proved) {
    case Proved::per_example:
      return "per-example";
    case Proved::per_step:
      return "per-step";
    case Proved::level:
      return "level";
    case Proved::undecided:
      break;
  }
  return "undecided";
}

GrowthOdds growth_odds(std::span<const BatchBlock> blocks) {
  const Readings readings = readings_of(blocks);
  Evidence sum = all_evidence(readings);
  const bool tells_examples = !readings.fresh.empty() || blocks.empty();
  GrowthOdds odds;
  odds.new_blocks = readings.fresh.size();
  odds.again_blocks = readings.again.size();
  odds.level = kPriorLevel * sum.level;
  odds.example = tells_examples ? kPriorExample * sum.example : 0;
  odds.step = kPriorStep * sum.step;
  odds.both = tells_examples ? kPriorBoth * sum.both : 0;
  const double total = odds.level + odds.example + odds.step + odds.both;
  if (blocks.empty() || !(total > 0)) {
    odds.level = odds.example = odds.step = odds.both = 0.25;
    return odds;
  }
  odds.level /= total, odds.example /= total, odds.step /= total, odds.both /= total;
  if (likeliest(odds) == odds.example) {
    odds.new_mb = sum.example_mb / sum.example;
  } else if (likeliest(odds) == odds.growing() && odds.both > odds.step) {
    odds.step_mb = sum.both_step_mb / sum.both;
    odds.new_mb = sum.both_new_mb / sum.both;
  } else if (likeliest(odds) == odds.growing()) {
    odds.step_mb = sum.step_mb / sum.step;
  }
  return odds;
}

Proved proved_by(const GrowthOdds& odds, double share) {
  if (likeliest(odds) < share || odds.again_blocks == 0) return Proved::undecided;
  if (likeliest(odds) == odds.level) return Proved::level;
  return likeliest(odds) == odds.example ? Proved::per_example : Proved::per_step;
}

double odds_of(const GrowthOdds& odds) {
  const double share = likeliest(odds);
  return share < 1 ? std::min(kMostOdds, share / (1 - share)) : kMostOdds;
}

}  // namespace plateau
