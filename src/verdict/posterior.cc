// SPDX-License-Identifier: Apache-2.0
#include "verdict/posterior.h"

#include <algorithm>
#include <cmath>

#include "base/statistics.h"
#include "verdict/least_squares.h"

namespace plateau {
namespace {

// Half-lives of 0, 1, 2, 7 and 34 floors: from no memory to longer than the series.
constexpr std::array<double, 5> kPhis = {0.0, 0.4, 0.7, 0.9, 0.98};

// Below these no floor is known: an allocator hands out pages by the hundred kilobytes, RSS is
// batched per thread, and a shape is never exact to half a percent of what it spans.
constexpr double kGranularityMb = 0.1;
constexpr double kGranularityOfLevel = 0.0005;
constexpr double kGranularityOfRange = 0.005;

// Most runs have no one-off step, some have one (optimizer state, a new phase), few have two.
constexpr double kNoStep = 0.6;
constexpr double kOneStep = 0.3;
constexpr double kTwoSteps = 0.1;
// Fits this far below the best, in log weight, add up to nothing: thousands times e^-14.
constexpr double kNegligible = -14;

class Weigher {
 public:
  Weigher(const Floors& floors, const Timeline& timeline, const Policy::Tuning& tuning,
          std::span<const FamilyRow> families)
      : floors_(floors), families_(families), rows_(floors.at.size()), leaders_(families.size()) {
    noise_mb_ = std::max({kGranularityMb, kGranularityOfLevel * floors.level_mb,
                          kGranularityOfRange * floors.range_mb});
    for (size_t i = 0; i < rows_; ++i) offset_ += floors.mb[i] / static_cast<double>(rows_);
    // Centred data keeps SSE accurate: 17 GB squared would cost eight digits.
    for (size_t i = 0; i < rows_; ++i) data_[i] = floors.mb[i] - offset_;
    list_ = list_shapes(floors, timeline, noise_mb_, tuning, families);
    log_rows_ = std::log(static_cast<double>(rows_));
  }

  Posterior weigh() {
    for (const double phi : kPhis) {
      phi_ = phi;
      gram_ = make_gram(list_.columns, data_, rows_, phi);
      for (const Shape& shape : list_.shapes) consider_with_steps(shape);
    }
    for (const auto& [family, log_prior] : list_.elsewhere) {
      const Weighing weighing{family, log_prior, floors_, noise_mb_, kPhis};
      for (const WeighedFit& fit : family->weigh(weighing)) offer(fit);
    }
    return finish();
  }

 private:
  void consider_with_steps(const Shape& shape) {
    consider(shape, {}, 0, std::log(kNoStep));
    const std::vector<uint8_t>& steps = list_.step_columns;
    const double one = std::log(kOneStep) - log_rows_;
    for (size_t a = 0; a < steps.size(); ++a) {
      consider(shape, {steps[a]}, 1, one);
    }
    if (!shape.family->two_steps) return;
    const double pairs = static_cast<double>(rows_) * static_cast<double>(rows_ - 1) / 2;
    const double two = std::log(kTwoSteps / pairs);
    for (size_t a = 0; a < std::min<size_t>(steps.size(), 4); ++a) {
      for (size_t b = a + 1; b < std::min<size_t>(steps.size(), 4); ++b) {
        consider(shape, {steps[a], steps[b]}, 2, two);
      }
    }
  }

  void consider(const Shape& shape, std::array<uint8_t, 2> steps, uint8_t step_count,
                double log_step_prior) {
    std::array<uint8_t, kMaxColumns> columns{};
    uint8_t count = 0;
    for (uint8_t i = 0; i < step_count; ++i) columns[count++] = steps[i];
    // Growth comes last: the last pivot is that column's alone, which gives its error below.
    for (uint8_t i = 1; i < shape.column_count; ++i) {
      if (i != shape.growth) columns[count++] = shape.columns[i];
    }
    if (shape.growth > 0) columns[count++] = shape.columns[shape.growth];
    if (count + 2u >= rows_) return;
    Solution solution;
    if (!solution.solve(gram_, columns, count)) return;
    if (step_count > 0 && !shape.family->bounded && falls(solution, count, step_count)) return;

    const double n = static_cast<double>(rows_);
    const double mean_square =
        std::max(0.0, gram_.data_data - solution.explained) / n + noise_mb_ * noise_mb_;
    const double log_likelihood = -0.5 * (n - 1) * std::log(mean_square) - 0.5 * count * log_rows_ +
                                  0.5 * std::log(1 - phi_ * phi_);
    double log_weight = shape.log_prior + log_step_prior + believed(log_likelihood);
    if (!worth_it(*shape.family, log_weight)) return;
    const double sigma = std::sqrt(mean_square * n / std::max(1.0, n - 1 - count));
    if (shape.growth > 0) {
      const double z = solution.projected[count - 1] * std::sqrt(solution.inverse[count - 1]);
      log_weight += believed(log_twice_positive(z / sigma));
      if (!worth_it(*shape.family, log_weight)) return;
    }
    Fit fit = describe(solution, columns, count, sigma);
    fit.family = shape.family;
    fit.parameter = shape.parameter;
    fit.ends_at = shape.ends_at;
    fit.open_end = shape.open_end;
    if (fit.ends_at > 0) fit.remaining = fit.rate * (fit.ends_at - floors_.now);
    fit.steps = step_count;
    if (step_count > 0) fit.step_at = step_clock(steps[0]);
    offer({log_weight, fit});
  }

  // What a solution says about now and later.
  [[nodiscard]] Fit describe(const Solution& solution,
                             const std::array<uint8_t, kMaxColumns>& columns, size_t count,
                             double sigma) const {
    Fit fit{.level_now = offset_ + gram_.data_constant, .sigma = sigma, .phi = phi_};
    const auto coefficient = solution.coefficients(count);
    std::array<double, kMaxColumns> slopes{};
    for (size_t i = 0; i < count; ++i) {
      const Column& column = list_.columns[columns[i]];
      slopes[i] = column.slope;
      fit.level_now += coefficient[i] * (column.at_now - gram_.with_constant[columns[i]]);
      fit.rate += coefficient[i] * column.slope;
      fit.remaining += coefficient[i] * column.remaining;
    }
    fit.rate_se = sigma * solution.spread(slopes, count);
    return fit;
  }

  [[nodiscard]] double step_clock(uint8_t column) const {
    for (size_t s = 0; s < list_.step_columns.size(); ++s) {
      if (list_.step_columns[s] == column) return floors_.at[list_.step_rows[s]];
    }
    return 0;
  }

  // A leak gives nothing back: a line that falls now and then is a sawtooth, and must be judged by
  // where its floors go, not excused by one-off steps down.
  static bool falls(const Solution& solution, size_t count, size_t step_count) {
    const auto coefficient = solution.coefficients(count);
    return coefficient[0] < 0 || (step_count > 1 && coefficient[1] < 0);
  }

  // Likely, or the best of its family so far.
  [[nodiscard]] bool worth_it(const FamilyRow& family, double log_weight) const {
    return log_weight >= best_ + kNegligible || log_weight > leaders_[place_of(family)].log_weight;
  }

  [[nodiscard]] size_t place_of(const FamilyRow& family) const {
    return static_cast<size_t>(&family - families_.data());
  }

  void offer(const WeighedFit& fit) {
    best_ = std::max(best_, fit.log_weight);
    WeighedFit& leader = leaders_[place_of(*fit.fit.family)];
    if (fit.log_weight > leader.log_weight) leader = fit;
    if (fit.log_weight >= best_ + kNegligible) fits_.push_back(fit);
  }

  Posterior finish() {
    Posterior posterior;
    posterior.noise_floor_mb = noise_mb_;
    posterior.fits.reserve(fits_.size());
    double total = 0;
    for (const WeighedFit& candidate : fits_) {
      if (candidate.log_weight < best_ + kNegligible) continue;
      posterior.fits.push_back(candidate.fit);
      posterior.fits.back().weight = std::exp(candidate.log_weight - best_);
      total += posterior.fits.back().weight;
    }
    posterior.families.resize(families_.size());
    for (size_t i = 0; i < families_.size(); ++i) {
      if (leaders_[i].log_weight <= kNone) continue;
      posterior.families[i] = {
          .considered = true, .log_odds = leaders_[i].log_weight - best_, .best = leaders_[i].fit};
    }
    for (Fit& fit : posterior.fits) {
      fit.weight /= total;
      posterior.families[place_of(*fit.family)].weight += fit.weight;
    }
    return posterior;
  }

  const Floors& floors_;
  std::span<const FamilyRow> families_;
  size_t rows_;
  double noise_mb_ = 0;
  double offset_ = 0;
  double log_rows_ = 0;
  double phi_ = 0;       // Of the fits at hand.
  double best_ = kNone;  // Largest log weight so far.
  Row data_{};
  ShapeList list_;
  Gram gram_;
  std::vector<WeighedFit> leaders_;  // Best of each family.
  std::vector<WeighedFit> fits_;     // Those that were near the best when they came.
};

}  // namespace

double log_twice_positive(double z) {
  return std::log(std::fmax(2 * normal_cdf(z), 1e-12));
}

void shift_level(double mb, Posterior& posterior) {
  for (Fit& fit : posterior.fits) fit.level_now += mb;
  for (FamilyWeight& family : posterior.families) family.best.level_now += mb;
}

Posterior weigh(const Floors& floors, const Timeline& timeline, const Policy::Tuning& tuning,
                std::span<const FamilyRow> families) {
  return Weigher(floors, timeline, tuning, families).weigh();
}

}  // namespace plateau
