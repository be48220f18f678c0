// SPDX-License-Identifier: Apache-2.0
#include "verdict/settled.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/statistics.h"

namespace plateau {
namespace {

// log(2e) of the Laplace density minus log(2 pi e)/2 of the normal one, which the other weights
// leave out as common to all.
constexpr double kLaplaceOverNormal = 0.2742086;

// The whitened tail from one row on, at one phi.
struct Tail {
  // Constant, clock and data against each other.
  double s11 = 0, s1t = 0, stt = 0, s1y = 0, sty = 0, syy = 0;
  double phi = 0;
  double n = 0;
  double floor_ss = 0;    // What the noise floor adds to the squares,
  double level_ss = 0;    // and those about the mean.
  double log_prior = 0;   // Of the row.
  double log_before = 0;  // Log likelihood of what comes before it.

  // Spread of the clock, and the climb over the whole span.
  [[nodiscard]] double spread() const { return stt - s1t * s1t / s11; }
  [[nodiscard]] double climb() const { return (sty - s1t * s1y / s11) / spread(); }
};

class SettledWeigher {
 public:
  explicit SettledWeigher(const Weighing& weighing)
      : weighing_(weighing),
        floors_(weighing.floors),
        noise_mb_(weighing.noise_floor_mb),
        rows_(floors_.at.size()),
        span_(std::max(floors_.now - floors_.at.front(), 1e-9)),
        log_rows_(std::log(static_cast<double>(rows_))),
        offset_(floors_.mb.back()) {}

  // `consider(row, tail, fits)` at every row at which the walk may end and every phi.
  template <typename Consider>
  std::vector<WeighedFit> weigh(Consider consider) const {
    const size_t least = std::max<size_t>(kFewestToSettle - 1, rows_ / kHingeTail);
    std::vector<size_t> ends;
    for (size_t k = 1; k + least <= rows_; k += rows_ > 24 ? 2 : 1) ends.push_back(k);
    const double log_prior = weighing_.log_prior - std::log(static_cast<double>(ends.size()));
    std::array<double, kMaxFloors> before{};
    for (const size_t row : ends) before[row] = free_walk_log_likelihood(row) - log_rows_;
    std::vector<WeighedFit> fits;
    fits.reserve(ends.size() * weighing_.phis.size());
    for (const double phi : weighing_.phis) {
      const double log_phi = 0.5 * std::log(1 - phi * phi);
      for (const size_t row : ends) {
        Tail tail = tail_from(row, phi);
        tail.log_prior = log_prior;
        tail.log_before = before[row] + log_phi;
        consider(row, tail, fits);
      }
    }
    return fits;
  }

  void add_level(size_t row, const Tail& tail, std::vector<WeighedFit>& fits) const {
    WeighedFit level;
    level.log_weight =
        tail.log_prior +
        believed(tail.log_before -
                 0.5 * (tail.n - 1) * std::log((tail.level_ss + tail.floor_ss) / tail.n));
    level.fit = {.family = weighing_.family,
                 .parameter = floors_.at[row],
                 .level_now = offset_ + tail.s1y / tail.s11,
                 .sigma = std::sqrt((tail.level_ss + tail.floor_ss) / tail.n),
                 .phi = tail.phi};
    fits.push_back(level);
  }

  void add_climb(size_t row, const Tail& tail, std::vector<WeighedFit>& fits) const {
    const double climb = tail.climb();
    const double now = offset_ + (tail.s1y - tail.s1t * climb) / tail.s11 + climb;
    // Growth makes new highs: a climb that has not passed what was there before is a tooth.
    const auto end_of_walk = floors_.mb.begin() + static_cast<std::ptrdiff_t>(row) + 1;
    if (now <= *std::max_element(floors_.mb.begin(), end_of_walk)) return;
    const double climb_ss =
        std::max(0.0, tail.level_ss - climb * climb * tail.spread()) + tail.floor_ss;
    const double sigma = std::sqrt(climb_ss / std::max(1.0, tail.n - 2));
    const double error = sigma / std::sqrt(tail.spread());
    WeighedFit rising;
    rising.log_weight = tail.log_prior + believed(tail.log_before - 0.5 * log_rows_ -
                                                  0.5 * (tail.n - 1) * std::log(climb_ss / tail.n) +
                                                  log_twice_positive(climb / error));
    rising.fit = {.family = weighing_.family,
                  .parameter = floors_.at[row],
                  .level_now = now,
                  .rate = climb / span_,
                  .rate_se = error / span_,
                  .sigma = sigma,
                  .phi = tail.phi};
    fits.push_back(rising);
  }

 private:
  [[nodiscard]] double clock(size_t row) const {
    return (floors_.at[row] - floors_.at.front()) / span_;
  }
  [[nodiscard]] double data(size_t row) const { return floors_.mb[row] - offset_; }

  [[nodiscard]] Tail tail_from(size_t row, double phi) const {
    Tail tail;
    const double start = std::sqrt(1 - phi * phi);
    for (size_t i = row; i < rows_; ++i) {
      const bool first = i == row;
      const double w1 = first ? start : 1 - phi;
      const double wt = first ? start * clock(i) : clock(i) - phi * clock(i - 1);
      const double wy = first ? start * data(i) : data(i) - phi * data(i - 1);
      tail.s11 += w1 * w1, tail.s1t += w1 * wt, tail.stt += wt * wt;
      tail.s1y += w1 * wy, tail.sty += wt * wy, tail.syy += wy * wy;
    }
    tail.phi = phi;
    tail.n = static_cast<double>(rows_ - row);
    tail.floor_ss = tail.n * noise_mb_ * noise_mb_;
    tail.level_ss = std::max(0.0, tail.syy - tail.s1y * tail.s1y / tail.s11);
    return tail;
  }

  [[nodiscard]] double free_walk_log_likelihood(size_t row) const {
    std::array<double, kMaxFloors> increment{};
    for (size_t i = 1; i <= row; ++i) increment[i - 1] = floors_.mb[i] - floors_.mb[i - 1];
    const double drift = upper_median({increment.data(), row});
    double scale = 0;
    for (size_t i = 0; i < row; ++i) scale += std::fabs(increment[i] - drift);
    const double steps = static_cast<double>(row);
    scale = scale / steps + noise_mb_;
    // One or two steps show no scatter; their own size stands in for it.
    if (row < 3) scale = std::max(scale, std::fabs(data(row) - data(0)) / steps);
    return -steps * (std::log(scale) + kLaplaceOverNormal);
  }

  const Weighing& weighing_;
  const Floors& floors_;
  double noise_mb_;
  size_t rows_;
  double span_;
  double log_rows_;
  double offset_;  // Taken off the data, so that squares keep their digits.
};

}  // namespace

std::vector<WeighedFit> weigh_settled(const Weighing& weighing) {
  const SettledWeigher weigher(weighing);
  return weigher.weigh([&](auto&&... tail) { weigher.add_level(tail...); });
}

std::vector<WeighedFit> weigh_settled_then_linear(const Weighing& weighing) {
  const SettledWeigher weigher(weighing);
  return weigher.weigh([&](auto&&... tail) { weigher.add_climb(tail...); });
}

}  // namespace plateau
