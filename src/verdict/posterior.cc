// SPDX-License-Identifier: Apache-2.0
#include "verdict/posterior.h"

#include <algorithm>
#include <cmath>

#include "verdict/increments.h"
#include "verdict/least_squares.h"
#include "verdict/normal.h"

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
// Entropy constants: log(2e) of the Laplace density minus log(2 pi e)/2 of the normal one, which
// the other weights leave out as common to all.
constexpr double kLaplaceOverNormal = 0.2742086;
constexpr double kNone = -1e300;
// Fits this far below the best, in log weight, add up to nothing: thousands times e^-14.
constexpr double kNegligible = -14;

// A fit before normalisation, with what is needed to complete it if it turns out to matter. There
// are thousands, so it is kept small.
struct Candidate {
  double log_weight = 0;
  const Shape* shape = nullptr;
  std::array<uint8_t, kMaxColumns> columns{};
  uint8_t count = 0;
  uint8_t steps = 0;
  uint8_t phi = 0;
};

// Settled shapes and random steps are cheap enough to be fitted completely at once.
struct CompleteFit {
  double log_weight = 0;
  Fit fit;
};

class Weigher {
 public:
  Weigher(const Floors& floors, const Timeline& timeline, const Policy::Tuning& tuning)
      : floors_(floors), rows_(floors.at.size()) {
    noise_mb_ = std::max({kGranularityMb, kGranularityOfLevel * floors.level_mb,
                          kGranularityOfRange * floors.range_mb});
    for (size_t i = 0; i < rows_; ++i) offset_ += floors.mb[i] / static_cast<double>(rows_);
    // Centred data keeps SSE accurate: 17 GB squared would cost eight digits.
    for (size_t i = 0; i < rows_; ++i) data_[i] = floors.mb[i] - offset_;
    list_ = list_shapes(floors, timeline, noise_mb_, tuning);
    log_rows_ = std::log(static_cast<double>(rows_));
    for (size_t i = 0; i < kPhis.size(); ++i) {
      log_jacobian_[i] = 0.5 * std::log(1 - kPhis[i] * kPhis[i]);
    }
    leaders_.fill(kNone);
  }

  Posterior weigh() {
    candidates_.reserve(list_.shapes.size() * kPhis.size() * 6);
    for (uint8_t i = 0; i < kPhis.size(); ++i) {
      grams_[i] = make_gram(list_.columns, data_, rows_, kPhis[i]);
      for (const Shape& shape : list_.shapes) consider_with_steps(shape, i);
      for (const size_t row : list_.settle_rows) consider_settled(row, i);
    }
    for (const IncrementFit& steps :
         weigh_increments(floors_, noise_mb_, list_.slowing_log_prior, list_.random_log_prior)) {
      complete_.push_back({steps.log_weight, steps.fit});
    }
    return finish();
  }

 private:
  void consider_with_steps(const Shape& shape, uint8_t phi) {
    consider(shape, phi, {}, 0, std::log(kNoStep));
    const std::vector<uint8_t>& steps = list_.step_columns;
    const double one = std::log(kOneStep) - log_rows_;
    for (size_t a = 0; a < steps.size(); ++a) {
      consider(shape, phi, {steps[a]}, 1, one);
    }
    // Two free steps bend anything; only the plainest shapes may have them, and each bounded one
    // among them has its unbounded twin.
    if (shape.family != Family::flat && shape.family != Family::linear &&
        shape.family != Family::still_filling && shape.family != Family::accelerating) {
      return;
    }
    const double pairs = static_cast<double>(rows_) * static_cast<double>(rows_ - 1) / 2;
    const double two = std::log(kTwoSteps / pairs);
    for (size_t a = 0; a < std::min<size_t>(steps.size(), 4); ++a) {
      for (size_t b = a + 1; b < std::min<size_t>(steps.size(), 4); ++b) {
        consider(shape, phi, {steps[a], steps[b]}, 2, two);
      }
    }
  }

  void consider(const Shape& shape, uint8_t phi, std::array<uint8_t, 2> steps, uint8_t step_count,
                double log_step_prior) {
    Candidate candidate;
    candidate.shape = &shape;
    candidate.phi = phi;
    candidate.steps = step_count;
    for (uint8_t i = 0; i < step_count; ++i) candidate.columns[candidate.count++] = steps[i];
    for (uint8_t i = 1; i < shape.column_count; ++i) {
      candidate.columns[candidate.count++] = shape.columns[i];
    }
    if (candidate.count + 2u >= rows_) return;
    Solution solution;
    if (!solution.solve(grams_[phi], candidate.columns, candidate.count)) return;
    if (step_count > 0 && !is_bounded(shape.family) &&
        falls(solution, candidate.count, step_count)) {
      return;
    }
    const double mean_square = residual(grams_[phi], solution) / static_cast<double>(rows_);
    candidate.log_weight = shape.log_prior + log_step_prior -
                           0.5 * static_cast<double>(rows_ - 1) * std::log(mean_square) -
                           0.5 * candidate.count * log_rows_ + log_jacobian_[phi];
    double& leader = leaders_[static_cast<size_t>(shape.family)];
    // Neither likely nor the best of its family: not worth the rest.
    if (candidate.log_weight < best_ + kNegligible && candidate.log_weight < leader) return;
    if (shape.grows) {
      const uint8_t last = candidate.count - 1;
      const double z = solution.projected[last] * std::sqrt(solution.inverse[last]) /
                       sigma_of(mean_square, candidate.count);
      candidate.log_weight += log_twice_positive(z);
    }
    best_ = std::max(best_, candidate.log_weight);
    leader = std::max(leader, candidate.log_weight);
    candidates_.push_back(candidate);
  }

  // A leak gives nothing back: a line that falls now and then is a sawtooth, and must be judged by
  // where its floors go, not excused by one-off steps down.
  static bool falls(const Solution& solution, size_t count, size_t step_count) {
    const auto coefficient = solution.coefficients(count);
    return coefficient[0] < 0 || (step_count > 1 && coefficient[1] < 0);
  }

  [[nodiscard]] double residual(const Gram& gram, const Solution& solution) const {
    return std::max(0.0, gram.data_data - solution.explained) +
           static_cast<double>(rows_) * noise_mb_ * noise_mb_;
  }

  [[nodiscard]] double sigma_of(double mean_square, size_t parameters) const {
    const double n = static_cast<double>(rows_);
    return std::sqrt(mean_square * n / std::max(1.0, n - 1 - static_cast<double>(parameters)));
  }

  // Rows 0..row walk freely; rows row.. are level, or climb.
  void consider_settled(size_t row, uint8_t phi_index) {
    const double phi = kPhis[phi_index];
    const double free_part = free_walk_log_likelihood(row) - log_rows_ + log_jacobian_[phi_index];
    const size_t tail = rows_ - row;
    const double span = std::max(floors_.now - floors_.at.front(), 1e-9);
    double s11 = 0, s1t = 0, stt = 0, s1y = 0, sty = 0, syy = 0;
    for (size_t i = row; i < rows_; ++i) {
      const bool first = i == row;
      const double keep = first ? std::sqrt(1 - phi * phi) : 1.0;
      const double carry = first ? 0.0 : phi;
      const double w1 = keep - carry;
      const double wt = keep * clock01(i, span) - (first ? 0.0 : carry * clock01(i - 1, span));
      const double wy = keep * data_[i] - (first ? 0.0 : carry * data_[i - 1]);
      s11 += w1 * w1, s1t += w1 * wt, stt += wt * wt;
      s1y += w1 * wy, sty += wt * wy, syy += wy * wy;
    }
    const double n = static_cast<double>(tail);
    const double floor_ss = n * noise_mb_ * noise_mb_;
    const double level_ss = std::max(0.0, syy - s1y * s1y / s11);
    const double v = stt - s1t * s1t / s11;
    const double coefficient = (sty - s1t * s1y / s11) / v;
    const double climb_ss = std::max(0.0, level_ss - coefficient * coefficient * v);

    CompleteFit level;
    level.log_weight =
        list_.settle_log_prior + free_part - 0.5 * (n - 1) * std::log((level_ss + floor_ss) / n);
    level.fit = {.family = Family::settled,
                 .parameter = floors_.at[row],
                 .level_now = offset_ + s1y / s11,
                 .sigma = std::sqrt((level_ss + floor_ss) / n),
                 .phi = phi};
    complete_.push_back(level);
    // Growth makes new highs: a climb that has not passed what was there before is a tooth.
    const double before = *std::max_element(data_.begin(), data_.begin() + row + 1);
    if ((s1y - s1t * coefficient) / s11 + coefficient <= before) return;

    CompleteFit climb;
    const double sigma = std::sqrt((climb_ss + floor_ss) / std::max(1.0, n - 2));
    const double error = sigma / std::sqrt(v);
    climb.log_weight = list_.settle_linear_log_prior + free_part - 0.5 * log_rows_ -
                       0.5 * (n - 1) * std::log((climb_ss + floor_ss) / n) +
                       log_twice_positive(coefficient / error);
    climb.fit = {.family = Family::settled_then_linear,
                 .parameter = floors_.at[row],
                 .level_now = offset_ + (s1y - s1t * coefficient) / s11 + coefficient,
                 .rate = coefficient / span,
                 .rate_se = error / span,
                 .sigma = sigma,
                 .phi = phi};
    complete_.push_back(climb);
  }

  [[nodiscard]] double clock01(size_t row, double span) const {
    return (floors_.at[row] - floors_.at.front()) / span;
  }

  // Log likelihood of the increments up to `row` as Laplace about their median: a warm-up is mostly
  // small steps and a few large ones, which a normal distribution would drown in its variance.
  [[nodiscard]] double free_walk_log_likelihood(size_t row) const {
    std::array<double, kMaxFloors> increment{};
    for (size_t i = 1; i <= row; ++i) increment[i - 1] = data_[i] - data_[i - 1];
    auto* const middle = increment.begin() + row / 2;
    std::nth_element(increment.begin(), middle, increment.begin() + row);
    const double drift = *middle;
    double scale = 0;
    for (size_t i = 0; i < row; ++i) scale += std::fabs(increment[i] - drift);
    const double steps = static_cast<double>(row);
    scale = scale / steps + noise_mb_;
    // One or two steps show no scatter; their own size stands in for it.
    if (row < 3) scale = std::max(scale, std::fabs(data_[row] - data_[0]) / steps);
    return -steps * (std::log(scale) + kLaplaceOverNormal);
  }

  Posterior finish() {
    double best = kNone;
    for (const Candidate& candidate : candidates_) best = std::max(best, candidate.log_weight);
    for (const CompleteFit& settled : complete_) best = std::max(best, settled.log_weight);
    Posterior posterior;
    posterior.noise_floor_mb = noise_mb_;
    const auto keep = [&](double log_weight, auto complete_fit) {
      if (log_weight - best < kNegligible) return;
      Fit fit = complete_fit();
      fit.weight = std::exp(log_weight - best);
      posterior.fits.push_back(fit);
    };
    for (const Candidate& candidate : candidates_) {
      keep(candidate.log_weight, [&] { return complete(candidate); });
    }
    for (const CompleteFit& settled : complete_) {
      keep(settled.log_weight, [&] { return settled.fit; });
    }
    double total = 0;
    for (const Fit& fit : posterior.fits) total += fit.weight;
    for (Fit& fit : posterior.fits) fit.weight /= total;
    fill_families(posterior, best);
    std::stable_sort(posterior.fits.begin(), posterior.fits.end(),
                     [](const Fit& a, const Fit& b) { return a.weight > b.weight; });
    return posterior;
  }

  void fill_families(Posterior& posterior, double best) const {
    std::array<const Candidate*, kFamilyCount> leader{};
    for (const Candidate& candidate : candidates_) {
      const Candidate*& of_family = leader[static_cast<size_t>(candidate.shape->family)];
      if (of_family == nullptr || of_family->log_weight < candidate.log_weight) {
        of_family = &candidate;
      }
    }
    for (size_t i = 0; i < kFamilyCount; ++i) {
      if (leader[i] == nullptr) continue;
      posterior.families[i] = {.considered = true,
                               .log_odds = leader[i]->log_weight - best,
                               .best = complete(*leader[i])};
    }
    for (const CompleteFit& settled : complete_) {
      FamilyWeight& of_family = posterior.families[static_cast<size_t>(settled.fit.family)];
      if (of_family.considered && of_family.log_odds >= settled.log_weight - best) continue;
      of_family = {.considered = true, .log_odds = settled.log_weight - best, .best = settled.fit};
    }
    for (const Fit& fit : posterior.fits) {
      posterior.families[static_cast<size_t>(fit.family)].weight += fit.weight;
    }
  }

  [[nodiscard]] Fit complete(const Candidate& candidate) const {
    const Gram& gram = grams_[candidate.phi];
    Solution solution;
    solution.solve(gram, candidate.columns, candidate.count);
    const double sigma =
        sigma_of(residual(gram, solution) / static_cast<double>(rows_), candidate.count);
    const auto coefficient = solution.coefficients(candidate.count);
    std::array<double, kMaxColumns> slopes{};
    Fit fit{.family = candidate.shape->family,
            .parameter = candidate.shape->parameter,
            .ends_at = candidate.shape->ends_at,
            .steps = candidate.steps,
            .level_now = offset_ + gram.data_constant,
            .sigma = sigma,
            .phi = kPhis[candidate.phi]};
    for (size_t i = 0; i < candidate.count; ++i) {
      const Column& column = list_.columns[candidate.columns[i]];
      slopes[i] = column.slope;
      fit.level_now += coefficient[i] * (column.at_now - gram.with_constant[candidate.columns[i]]);
      fit.rate += coefficient[i] * column.slope;
      fit.remaining += coefficient[i] * column.remaining;
    }
    fit.rate_se = sigma * solution.spread(slopes, candidate.count);
    if (fit.ends_at > 0) fit.remaining = fit.rate * (fit.ends_at - floors_.now);
    for (size_t s = 0; s < list_.step_columns.size() && candidate.steps > 0; ++s) {
      if (list_.step_columns[s] == candidate.columns[0]) {
        fit.step_at = floors_.at[list_.step_rows[s]];
      }
    }
    return fit;
  }

  const Floors& floors_;
  size_t rows_;
  double noise_mb_ = 0;
  double offset_ = 0;
  double log_rows_ = 0;
  double best_ = kNone;                       // Of the candidates so far.
  std::array<double, kFamilyCount> leaders_;  // The same by family.
  std::array<double, kPhis.size()> log_jacobian_{};
  Row data_{};
  ShapeList list_;
  std::array<Gram, kPhis.size()> grams_;
  std::vector<Candidate> candidates_;
  std::vector<CompleteFit> complete_;
};

}  // namespace

Posterior weigh(const Floors& floors, const Timeline& timeline, const Policy::Tuning& tuning) {
  return Weigher(floors, timeline, tuning).weigh();
}

}  // namespace plateau
