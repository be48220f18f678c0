// SPDX-License-Identifier: Apache-2.0
#include "verdict/settled.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "verdict/normal.h"

namespace plateau {
namespace {

// log(2e) of the Laplace density minus log(2 pi e)/2 of the normal one, which the other weights
// leave out as common to all.
constexpr double kLaplaceOverNormal = 0.2742086;

// Sums of the whitened tail: constant, clock and data against each other.
struct TailSums {
  double s11 = 0, s1t = 0, stt = 0, s1y = 0, sty = 0, syy = 0;
};

class SettledWeigher {
 public:
  SettledWeigher(const Floors& floors, const ShapeList& list, double noise_floor_mb)
      : floors_(floors),
        list_(list),
        noise_mb_(noise_floor_mb),
        rows_(floors.at.size()),
        span_(std::max(floors.now - floors.at.front(), 1e-9)),
        log_rows_(std::log(static_cast<double>(rows_))),
        offset_(floors.mb.back()) {}

  void consider(size_t row, double phi, std::vector<WeighedFit>& fits) const {
    const double before = free_walk_log_likelihood(row) - log_rows_ + 0.5 * std::log(1 - phi * phi);
    const TailSums sums = sum_tail(row, phi);
    const double n = static_cast<double>(rows_ - row);
    const double floor_ss = n * noise_mb_ * noise_mb_;
    const double level_ss = std::max(0.0, sums.syy - sums.s1y * sums.s1y / sums.s11);
    const double v = sums.stt - sums.s1t * sums.s1t / sums.s11;
    const double climb = (sums.sty - sums.s1t * sums.s1y / sums.s11) / v;

    WeighedFit level;
    level.log_weight =
        list_.settle_log_prior + before - 0.5 * (n - 1) * std::log((level_ss + floor_ss) / n);
    level.fit = {.family = Family::settled,
                 .parameter = floors_.at[row],
                 .level_now = offset_ + sums.s1y / sums.s11,
                 .sigma = std::sqrt((level_ss + floor_ss) / n),
                 .phi = phi};
    fits.push_back(level);

    const double now = offset_ + (sums.s1y - sums.s1t * climb) / sums.s11 + climb;
    // Growth makes new highs: a climb that has not passed what was there before is a tooth.
    const auto end_of_walk = floors_.mb.begin() + static_cast<std::ptrdiff_t>(row) + 1;
    if (now <= *std::max_element(floors_.mb.begin(), end_of_walk)) return;
    const double climb_ss = std::max(0.0, level_ss - climb * climb * v) + floor_ss;
    const double sigma = std::sqrt(climb_ss / std::max(1.0, n - 2));
    const double error = sigma / std::sqrt(v);
    WeighedFit rising;
    rising.log_weight = list_.settle_linear_log_prior + before - 0.5 * log_rows_ -
                        0.5 * (n - 1) * std::log(climb_ss / n) + log_twice_positive(climb / error);
    rising.fit = {.family = Family::settled_then_linear,
                  .parameter = floors_.at[row],
                  .level_now = now,
                  .rate = climb / span_,
                  .rate_se = error / span_,
                  .sigma = sigma,
                  .phi = phi};
    fits.push_back(rising);
  }

 private:
  [[nodiscard]] double clock(size_t row) const {
    return (floors_.at[row] - floors_.at.front()) / span_;
  }
  [[nodiscard]] double data(size_t row) const { return floors_.mb[row] - offset_; }

  [[nodiscard]] TailSums sum_tail(size_t row, double phi) const {
    TailSums sums;
    const double start = std::sqrt(1 - phi * phi);
    for (size_t i = row; i < rows_; ++i) {
      const bool first = i == row;
      const double w1 = first ? start : 1 - phi;
      const double wt = first ? start * clock(i) : clock(i) - phi * clock(i - 1);
      const double wy = first ? start * data(i) : data(i) - phi * data(i - 1);
      sums.s11 += w1 * w1, sums.s1t += w1 * wt, sums.stt += wt * wt;
      sums.s1y += w1 * wy, sums.sty += wt * wy, sums.syy += wy * wy;
    }
    return sums;
  }

  [[nodiscard]] double free_walk_log_likelihood(size_t row) const {
    std::array<double, kMaxFloors> increment{};
    for (size_t i = 1; i <= row; ++i) increment[i - 1] = floors_.mb[i] - floors_.mb[i - 1];
    auto* const middle = increment.begin() + row / 2;
    std::nth_element(increment.begin(), middle, increment.begin() + row);
    const double drift = *middle;
    double scale = 0;
    for (size_t i = 0; i < row; ++i) scale += std::fabs(increment[i] - drift);
    const double steps = static_cast<double>(row);
    scale = scale / steps + noise_mb_;
    // One or two steps show no scatter; their own size stands in for it.
    if (row < 3) scale = std::max(scale, std::fabs(data(row) - data(0)) / steps);
    return -steps * (std::log(scale) + kLaplaceOverNormal);
  }

  const Floors& floors_;
  const ShapeList& list_;
  double noise_mb_;
  size_t rows_;
  double span_;
  double log_rows_;
  double offset_;  // Taken off the data, so that squares keep their digits.
};

}  // namespace

std::vector<WeighedFit> weigh_settled(const Floors& floors, const ShapeList& list,
                                      double noise_floor_mb, std::span<const double> phis) {
  const SettledWeigher weigher(floors, list, noise_floor_mb);
  std::vector<WeighedFit> fits;
  fits.reserve(2 * list.settle_rows.size() * phis.size());
  for (const double phi : phis) {
    for (const size_t row : list.settle_rows) weigher.consider(row, phi, fits);
  }
  return fits;
}

}  // namespace plateau
