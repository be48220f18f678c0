// SPDX-License-Identifier: Apache-2.0
#include "verdict/posterior.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

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
constexpr size_t kPairedSteps = 4;  // Of the candidates, the largest.
// Fits this far below the best, in log weight, add up to nothing: thousands times e^-14.
constexpr double kNegligible = -14;
constexpr size_t kMostElsewhere = 512;  // Fits of families that are weighed elsewhere, about.

// What the last digits of a logarithm may be off by, and more.
constexpr double kRoundings = 1e-9;

// Never above log(x), and at most 0.06 below it: log2 is concave, and the bits of a double are its
// chord between two powers of two. Requires: x > 0, not subnormal.
double log_from_below(double x) {
  constexpr double kUnit = 1.0 / (uint64_t{1} << 52);
  return std::numbers::ln2 * (static_cast<double>(std::bit_cast<int64_t>(x)) * kUnit - 1023);
}

class Weigher {
 public:
  Weigher(const Floors& floors, const Timeline& timeline, const Policy::Tuning& tuning,
          std::span<const FamilyRow> families)
      : floors_(floors),
        families_(families),
        rows_(floors.at.size()),
        noise_mb_(std::max({kGranularityMb, kGranularityOfLevel * floors.level_mb,
                            kGranularityOfRange * floors.range_mb})),
        list_(list_shapes(floors, timeline, noise_mb_, tuning, families)),
        gram_(list_, data_, rows_),
        leaders_(families.size()) {
    for (size_t i = 0; i < rows_; ++i) offset_ += floors.mb[i] / static_cast<double>(rows_);
    // Centred data keeps SSE accurate: 17 GB squared would cost eight digits.
    for (size_t i = 0; i < rows_; ++i) data_[i] = floors.mb[i] - offset_;
    log_rows_ = std::log(static_cast<double>(rows_));
    list_choices();
    // All at once: vectors that grow to some hundred kilobytes cost more than what is put into
    // them.
    const size_t most = list_.shapes.size() * choices_.size() * kPhis.size() + kMostElsewhere;
    fits_.reserve(most);
    log_weights_.reserve(most);
  }

  Posterior weigh() {
    for (const double phi : kPhis) {
      phi_ = phi;
      log_phi_ = 0.5 * std::log(1 - phi * phi);
      gram_.form(phi);
      for (StepChoice& choice : choices_) choice.usable = choice.left.take_from(gram_);
      for (const Shape& shape : list_.shapes) consider_with_steps(shape);
    }
    for (const auto& [family, log_prior] : list_.elsewhere) {
      const Weighing weighing{family, log_prior, floors_, noise_mb_, kPhis};
      for (const WeighedFit& made : family->weigh(weighing)) {
        if (worth_it(*family, made.log_weight)) offer(*family, made.log_weight) = made.fit;
      }
    }
    return finish();
  }

 private:
  using OwnColumns = std::array<uint8_t, kMaxColumns>;
  struct StepChoice {
    Remainder left;
    double log_prior = 0;
    bool usable = false;
  };

  // None, each of the candidates, and each pair of the first few.
  void list_choices() {
    const std::vector<uint8_t>& steps = list_.step_columns;
    choices_.push_back({.left = Remainder({}), .log_prior = std::log(kNoStep)});
    for (const uint8_t step : steps) {
      choices_.push_back({.left = Remainder({step}), .log_prior = std::log(kOneStep) - log_rows_});
    }
    const double pairs = static_cast<double>(rows_) * static_cast<double>(rows_ - 1) / 2;
    const size_t first = std::min(steps.size(), kPairedSteps);
    for (size_t a = 0; a < first; ++a) {
      for (size_t b = a + 1; b < first; ++b) {
        choices_.push_back(
            {.left = Remainder({steps[a], steps[b]}), .log_prior = std::log(kTwoSteps / pairs)});
      }
    }
  }

  void consider_with_steps(const Shape& shape) {
    OwnColumns own{};
    size_t count = 0;
    // Growth comes last: the last pivot is that column's alone, which gives its error below.
    for (uint8_t i = 1; i < shape.column_count; ++i) {
      if (i != shape.growth) own[count++] = shape.columns[i];
    }
    if (shape.growth > 0) own[count++] = shape.columns[shape.growth];
    static_assert(kMaxColumns == 3);
    if (count == 0) return consider_choices<0>(shape, own);
    if (count == 1) return consider_choices<1>(shape, own);
    if (count == 2) return consider_choices<2>(shape, own);
    consider_choices<3>(shape, own);
  }

  // The number of columns is known to the compiler, which writes the small loops out.
  template <size_t kOwn>
  void consider_choices(const Shape& shape, const OwnColumns& own) {
    for (const StepChoice& choice : choices_) {
      if (choice.left.steps().size() > 1 && !shape.family->two_steps) break;
      if (choice.usable) consider<kOwn>(shape, own, choice);
    }
  }

  template <size_t kOwn>
  void consider(const Shape& shape, const OwnColumns& own, const StepChoice& choice) {
    const size_t count = choice.left.steps().size() + kOwn;
    if (count + 2 >= rows_) return;
    Solution solution;
    if (!solution.solve<kOwn>(choice.left, own)) return;
    const double n = static_cast<double>(rows_);
    const double left = std::max(0.0, gram_.data_data() - solution.explained);
    const auto weight_at = [&](double log_square) {
      const double log_likelihood =
          -0.5 * (n - 1) * log_square - 0.5 * static_cast<double>(count) * log_rows_ + log_phi_;
      return shape.log_prior + choice.log_prior + believed(log_likelihood);
    };
    // Most are so unlikely that a rough figure tells.
    const double rough = log_from_below(left + n * noise_mb_ * noise_mb_) - log_rows_ - kRoundings;
    if (!worth_it(*shape.family, weight_at(rough))) return;
    const double mean_square = left / n + noise_mb_ * noise_mb_;
    double log_weight = weight_at(std::log(mean_square));
    if (!worth_it(*shape.family, log_weight)) return;
    const double sigma =
        std::sqrt(mean_square * n / std::max(1.0, n - 1 - static_cast<double>(count)));
    if (kOwn > 0 && shape.growth > 0) {
      constexpr size_t kLast = std::max<size_t>(kOwn, 1) - 1;
      const double z = solution.projected[kLast] * std::sqrt(solution.inverse[kLast]);
      log_weight += believed(log_twice_positive(z / sigma));
      if (!worth_it(*shape.family, log_weight)) return;
    }
    const auto coefficient = solution.coefficients<kOwn>();
    const auto heights = choice.left.heights(own, coefficient, kOwn);
    if (!shape.family->bounded && falls(heights)) return;
    Fit& fit = offer(*shape.family, log_weight);
    fit.parameter = shape.parameter;
    fit.ends_at = shape.ends_at;
    fit.open_end = shape.open_end;
    fit.sigma = sigma;
    fit.phi = phi_;
    describe_steps(choice.left.steps(), heights, fit);
    describe<kOwn>(solution, own, coefficient, fit);
    if (shape.ends_at > 0) fit.remaining = fit.rate * (shape.ends_at - floors_.now);
  }

  // What a solution says about now and later, beside what its steps do.
  template <size_t kOwn>
  void describe(const Solution& solution, const OwnColumns& own,
                const std::array<double, kMaxColumns>& coefficient, Fit& fit) const {
    double level = fit.level_now, rate = 0, remaining = 0;
    std::array<double, kMaxColumns> slopes{};
    for (size_t i = 0; i < kOwn; ++i) {
      const Column& column = list_.columns[own[i]];
      slopes[i] = column.slope;
      level += coefficient[i] * (column.at_now - gram_.with_constant(own[i]));
      rate += coefficient[i] * column.slope;
      remaining += coefficient[i] * column.remaining;
    }
    fit.level_now = level;
    fit.rate = rate;
    fit.rate_se = fit.sigma * solution.spread<kOwn>(slopes);
    fit.remaining = remaining;
  }

  // The level now without what grows: that of the constant and the steps.
  void describe_steps(const std::vector<uint8_t>& steps,
                      const std::array<double, kMaxSteps>& heights, Fit& fit) const {
    double level = offset_ + gram_.data_constant();
    fit.steps = static_cast<int>(steps.size());
    if (!steps.empty()) fit.step_at = step_clock(steps[0]);
    for (size_t i = 0; i < steps.size(); ++i) {
      level += heights[i] * (list_.columns[steps[i]].at_now - gram_.with_constant(steps[i]));
    }
    fit.level_now = level;
  }

  [[nodiscard]] double step_clock(uint8_t column) const {
    for (size_t s = 0; s < list_.step_columns.size(); ++s) {
      if (list_.step_columns[s] == column) return floors_.at[list_.step_rows[s]];
    }
    return 0;
  }

  // A leak gives nothing back: a line that falls now and then is a sawtooth, and must be judged by
  // where its floors go, not excused by one-off steps down.
  static bool falls(const std::array<double, kMaxSteps>& heights) {
    return heights[0] < 0 || heights[1] < 0;
  }

  // Likely, or the best of its family so far.
  [[nodiscard]] bool worth_it(const FamilyRow& family, double log_weight) const {
    return log_weight >= best_ + kNegligible || log_weight > leaders_[place_of(family)].log_weight;
  }

  [[nodiscard]] size_t place_of(const FamilyRow& family) const {
    return static_cast<size_t>(&family - families_.data());
  }

  // Makes room for a fit, in place: there are thousands.
  Fit& offer(const FamilyRow& family, double log_weight) {
    best_ = std::max(best_, log_weight);
    Leader& leader = leaders_[place_of(family)];
    if (log_weight > leader.log_weight) leader = {log_weight, fits_.size()};
    log_weights_.push_back(log_weight);
    Fit& made = fits_.emplace_back();
    made.family = &family;
    return made;
  }

  Posterior finish() {
    Posterior posterior;
    posterior.noise_floor_mb = noise_mb_;
    posterior.families.resize(families_.size());
    for (size_t i = 0; i < families_.size(); ++i) {
      if (leaders_[i].log_weight <= kNone) continue;
      posterior.families[i] = {.considered = true,
                               .log_odds = leaders_[i].log_weight - best_,
                               .best = fits_[leaders_[i].place]};
    }
    double total = 0;
    size_t kept = 0;
    for (size_t i = 0; i < fits_.size(); ++i) {
      if (log_weights_[i] < best_ + kNegligible) continue;
      if (kept < i) fits_[kept] = fits_[i];
      fits_[kept].weight = std::exp(log_weights_[i] - best_);
      total += fits_[kept++].weight;
    }
    fits_.resize(kept);
    posterior.fits = std::move(fits_);
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
  double phi_ = 0;  // Of the fits at hand, and what it adds to their log likelihood.
  double log_phi_ = 0;
  double best_ = kNone;  // Largest log weight so far.
  Row data_{};
  ShapeList list_;
  Gram gram_;
  std::vector<StepChoice> choices_;
  // The best of each family, and where it stands among the fits.
  struct Leader {
    double log_weight = kNone;
    size_t place = 0;
  };
  std::vector<Leader> leaders_;
  std::vector<Fit> fits_;            // Those that were worth it when they came,
  std::vector<double> log_weights_;  // and their log weights.
};

}  // namespace

double log_twice_positive(double z) {
  return std::log(std::fmax(2 * normal_cdf(z), 1e-12));
}

void shift_level(double mb, Posterior& posterior) {
  for (Fit& fit : posterior.fits) fit.level_now += mb;
  for (FamilyWeight& family : posterior.families) family.best.level_now += mb;
}

bool share_out(double most, Posterior& posterior) {
  double endless = 0;
  for (const Fit& fit : posterior.fits) endless += fit.family->bounded ? 0 : fit.weight;
  if (endless <= most) return false;
  double bounded = 1 - endless;
  const bool none = std::none_of(posterior.fits.begin(), posterior.fits.end(),
                                 [](const Fit& fit) { return fit.family->bounded; });
  if (none || bounded <= 0) {
    const FamilyWeight* best = nullptr;
    for (const FamilyWeight& family : posterior.families) {
      if (!family.considered || !family.best.family->bounded) continue;
      if (best == nullptr || family.log_odds > best->log_odds) best = &family;
    }
    if (best == nullptr) return false;
    posterior.fits.push_back(best->best);
    posterior.fits.back().weight = bounded = 1;
  }
  for (Fit& fit : posterior.fits) {
    fit.weight *= fit.family->bounded ? (1 - most) / bounded : most / endless;
  }
  for (FamilyWeight& family : posterior.families) {
    if (!family.considered) continue;
    family.weight = 0;
    for (const Fit& fit : posterior.fits)
      family.weight += fit.family == family.best.family ? fit.weight : 0;
  }
  return true;
}

Posterior weigh(const Floors& floors, const Timeline& timeline, const Policy::Tuning& tuning,
                std::span<const FamilyRow> families) {
  return Weigher(floors, timeline, tuning, families).weigh();
}

}  // namespace plateau
