// SPDX-License-Identifier: Apache-2.0
#include "verdict/increments.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace plateau {
namespace {

// log(2 pi e) / 2: what the normal shapes leave out per row, added here to be comparable.
constexpr double kNormalConstant = 1.4189385332;
// Height of m against the mean increment, and noise scale against the noise floor.
constexpr std::array<double, 5> kHeights = {0.4, 0.63, 1.0, 1.6, 2.5};
constexpr std::array<double, 3> kNoises = {1.0, 3.0, 9.0};
// How m falls, in shares of the span.
constexpr std::array<double, 5> kDecays = {0.06, 0.1, 0.16, 0.25, 0.4};
constexpr std::array<double, 2> kRecordScales = {0.02, 0.07};
// A quarter of the floors must lie after a stop: a pause between two steps is no stop.
constexpr size_t kStopTail = 4;

// Of a product whose logarithm is taken.
constexpr size_t kFactors = 8;

// How the mean growth per floor changes along the run: one factor per increment, mean 1 over those
// that have been seen, so that heights compare.
struct Profile {
  double parameter = 0;  // tau, c or the clock of the stop.
  std::array<double, kMaxFloors> factor{};
  double last = 1;       // The factor from now on.
  double remaining = 0;  // Sum of factors still to come, in floors.
};

class IncrementWeigher {
 public:
  explicit IncrementWeigher(const Weighing& weighing)
      : weighing_(weighing),
        floors_(weighing.floors),
        noise_mb_(weighing.noise_floor_mb),
        count_(floors_.mb.size() - 1) {
    for (size_t i = 0; i < count_; ++i) increment_[i] = floors_.mb[i + 1] - floors_.mb[i];
    mean_ = std::max((floors_.mb.back() - floors_.mb.front()) / static_cast<double>(count_), 0.0);
    span_ = std::max(floors_.now - floors_.at.front(), 1e-9);
  }

  std::vector<WeighedFit> weigh_slowing() const {
    if (!enough()) return {};
    std::vector<Profile> profiles;
    profiles.reserve(kMaxFloors);
    for (const double share : kDecays) profiles.push_back(decaying(share * span_));
    for (const double share : kRecordScales) profiles.push_back(records(share * span_));
    const size_t tail = std::max<size_t>(3, count_ / kStopTail);
    for (size_t stop = 3; stop + tail <= count_; stop += 3) profiles.push_back(stopping(stop));
    const double log_prior = weighing_.log_prior - std::log(static_cast<double>(profiles.size()));
    std::vector<WeighedFit> fits;
    for (const Profile& profile : profiles) add(profile, log_prior, fits);
    return fits;
  }

  std::vector<WeighedFit> weigh_constant() const {
    std::vector<WeighedFit> fits;
    if (enough()) add(constant(), weighing_.log_prior, fits);
    return fits;
  }

 private:
  [[nodiscard]] bool enough() const { return count_ >= 6 && mean_ > 0; }

  [[nodiscard]] double middle(size_t i) const {
    return (floors_.at[i] + floors_.at[i + 1]) / 2 - floors_.at.front();
  }

  static void normalise(Profile& profile, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; ++i) sum += profile.factor[i];
    const double scale = static_cast<double>(count) / std::max(sum, 1e-9);
    for (size_t i = 0; i < count; ++i) profile.factor[i] *= scale;
    profile.last *= scale;
    profile.remaining *= scale;
  }

  [[nodiscard]] Profile constant() const {
    Profile profile;
    profile.factor.fill(1);
    return profile;
  }

  [[nodiscard]] Profile decaying(double tau) const {
    Profile profile{.parameter = tau};
    for (size_t i = 0; i < count_; ++i) profile.factor[i] = std::exp(-middle(i) / tau);
    profile.last = std::exp(-span_ / tau);
    profile.remaining = profile.last * tau / span_ * static_cast<double>(count_);
    normalise(profile, count_);
    return profile;
  }

  [[nodiscard]] Profile records(double c) const {
    Profile profile{.parameter = c};
    for (size_t i = 0; i < count_; ++i) profile.factor[i] = 1 / (1 + middle(i) / c);
    profile.last = 1 / (1 + span_ / c);
    normalise(profile, count_);
    return profile;
  }

  [[nodiscard]] Profile stopping(size_t stop) const {
    Profile profile{.parameter = floors_.at[stop]};
    for (size_t i = 0; i < stop; ++i) profile.factor[i] = 1;
    profile.last = 0;
    normalise(profile, count_);
    return profile;
  }

  // The logarithm of a product is that of its factors, and is taken once for several: a factor is
  // an amount of MB, far from what a double cannot hold.
  [[nodiscard]] double log_density(const Profile& profile, double height, double noise) const {
    double sum = 0, product = 1;
    for (size_t i = 0; i < count_; ++i) {
      const double up = noise + height * profile.factor[i];
      const double d = increment_[i];
      sum += d >= 0 ? -d / up : d / noise;
      product *= up + noise;
      if (i % kFactors != kFactors - 1) continue;
      sum -= std::log(product);
      product = 1;
    }
    return sum - std::log(product);
  }

  void add(const Profile& profile, double log_prior, std::vector<WeighedFit>& fits) const {
    const double share = std::log(static_cast<double>(kHeights.size() * kNoises.size()));
    const double rows = static_cast<double>(count_);
    for (const double height : kHeights) {
      for (const double noise : kNoises) {
        const double m = height * mean_;
        WeighedFit out;
        out.log_weight =
            log_prior - share +
            believed(rows * kNormalConstant + log_density(profile, m, noise * noise_mb_));
        const double per_step = rows / span_;
        out.fit = {.family = weighing_.family,
                   .parameter = profile.parameter,
                   .level_now = floors_.mb.back(),
                   .rate = m * profile.last * per_step,
                   // The mean of n exponential steps is known to one part in sqrt(n).
                   .rate_se = m * profile.last * per_step / std::sqrt(rows),
                   .remaining = m * profile.remaining,
                   .sigma = noise * noise_mb_};
        fits.push_back(out);
      }
    }
  }

  const Weighing& weighing_;
  const Floors& floors_;
  double noise_mb_;
  size_t count_;
  double mean_ = 0;
  double span_ = 1;
  std::array<double, kMaxFloors> increment_{};
};

}  // namespace

std::vector<WeighedFit> weigh_slowing_steps(const Weighing& weighing) {
  return IncrementWeigher(weighing).weigh_slowing();
}

std::vector<WeighedFit> weigh_random_steps(const Weighing& weighing) {
  return IncrementWeigher(weighing).weigh_constant();
}

}  // namespace plateau
