// SPDX-License-Identifier: Apache-2.0
#include "verdict/shapes.h"

#include <algorithm>
#include <cmath>

#include "verdict/shape_grids.h"

namespace plateau {
namespace {

constexpr std::array<std::string_view, kFamilyCount> kNames = {"flat",
                                                               "saturating",
                                                               "records",
                                                               "epoch-hinge",
                                                               "capacity",
                                                               "still-filling",
                                                               "epoch-ramp",
                                                               "first-events",
                                                               "slowing-steps",
                                                               "settled",
                                                               "linear",
                                                               "accelerating",
                                                               "leak-after-warm-up",
                                                               "leak-after-epoch",
                                                               "late-start",
                                                               "per-evaluation",
                                                               "per-checkpoint",
                                                               "per-epoch",
                                                               "random-steps",
                                                               "leak-since-settled"};

// Prior weights within each camp, before normalising; each camp then sums to one half. They are
// round numbers on purpose: halving or doubling any one of them moves no verdict on the recorded
// traces by more than one (docs/accuracy.md, sensitivity).
struct Prior {
  double flat = 0.20;
  double saturating = 0.25;
  double stretched = 0.10;
  double two_stage = 0.15;
  double epoch_and_slow = 0.10;
  double records = 0.05;
  double epoch_hinge = 0.45;
  double capacity = 0.15;
  double filling_before_epoch = 0.60;  // The epoch's end lies ahead, or is unknown.
  double filling_after_epoch = 0.08;   // Past the epoch but before the deadline.
  double epoch_ramp = 0.05;
  double slowing_steps = 0.20;
  double settled = 0.20;
  double linear = 0.40;
  double accelerating = 0.05;
  double after_warmup = 0.20;
  double after_epoch = 0.10;
  double late_start = 0.10;
  double per_event = 0.15;
  double random_steps = 0.15;
  double settled_then_linear = 0.10;
};
constexpr Prior kPrior;

// A recent halt is no plateau yet: a sixth of the floors must lie after a hinge.
constexpr size_t kHingeTail = 6;
constexpr size_t kStepCandidates = 5;
// Three equal steps at three events happen once by chance; a fourth makes it a habit.
constexpr size_t kEventsToJudge = 4;

class Builder {
 public:
  Builder(const Floors& floors, const Timeline& timeline, double noise_floor_mb,
          const Policy::Tuning& tuning)
      : floors_(floors),
        timeline_(timeline),
        tuning_(tuning),
        noise_floor_mb_(noise_floor_mb),
        rows_(floors.at.size()),
        start_(floors.at.front()),
        now_(floors.now),
        span_(std::max(floors.now - floors.at.front(), 1e-9)) {}

  ShapeList build() {
    list_.columns.reserve(96);
    list_.shapes.reserve(128);
    one_ = add([](double) { return 1.0; }, 0, 0);
    linear_ = add([this](double t) { return (t - start_) / span_; }, 1 / span_, 0);
    square_ = add([this](double t) { return square((t - start_) / span_); }, 2 / span_, 0);
    smooth_shapes();
    hinge_shapes();
    epoch_shapes();
    filling_shapes();
    straight_shapes();
    event_shapes(timeline_.evaluations, Family::per_evaluation);
    event_shapes(timeline_.checkpoints, Family::per_checkpoint);
    event_shapes(epoch_ends(), Family::per_epoch);
    step_candidates();
    settle_candidates();
    normalise();
    return std::move(list_);
  }

 private:
  [[nodiscard]] double scale_of(Family family) const {
    return static_cast<int>(family) == tuning_.scaled_family ? tuning_.scale : 1.0;
  }

  static double square(double x) { return x * x; }

  template <typename Function>
  uint8_t add(Function f, double slope, double remaining) {
    Column column;
    for (size_t i = 0; i < rows_; ++i) column.value[i] = f(floors_.at[i]);
    column.at_now = f(now_);
    column.slope = slope;
    column.remaining = remaining;
    list_.columns.push_back(column);
    return static_cast<uint8_t>(list_.columns.size() - 1);
  }

  void shape(Family family, double prior, std::initializer_list<uint8_t> columns, bool grows,
             double parameter = 0, double ends_at = 0) {
    Shape shape{
        .family = family,
        .log_prior = prior * scale_of(family),  // A weight until normalise() takes the logarithm.
        .column_count = static_cast<uint8_t>(columns.size()),
        .grows = grows,
        .parameter = parameter,
        .ends_at = ends_at};
    std::copy(columns.begin(), columns.end(), shape.columns.begin());
    list_.shapes.push_back(shape);
  }

  // Saturating and record growth, and a line on top of a saturating warm-up.
  void smooth_shapes() {
    const double step = span_ / static_cast<double>(std::max<size_t>(rows_ - 1, 1));
    // A warm-up may be as slow as the deadline, or as what the data can tell from a line, which
    // takes one and a half times tau; one slower than 1.5 spans is a line.
    const double slowest =
        std::min(std::max({timeline_.deadline, 2 * step, span_ / 1.5}), 1.5 * span_);
    const std::vector<double> taus = tau_grid(floors_, 0.7 * step, slowest);
    const double share = 1.0 / static_cast<double>(std::max<size_t>(taus.size(), 1));
    for (const double tau : taus) {
      const double left = std::exp(-span_ / tau);
      const uint8_t column =
          add([&](double t) { return 1 - std::exp(-(t - start_) / tau); }, left / tau, left);
      saturating_.emplace_back(tau, column);
      shape(Family::saturating, kPrior.saturating * share, {one_, column}, true, tau);
      // A warm-up that takes a third of the run or more cannot be told from the line beside it.
      if (tau < span_ / 3) {
        shape(Family::linear_after_warmup, kPrior.after_warmup * share, {one_, column, linear_},
              true, tau);
      }
    }
    stretched_shapes(step, slowest);
    two_stage_shapes();
    // Records come fast at first: c beyond a tenth of the run would be a line by another name.
    for (const double spread : {0.25, 0.8, 2.5}) {
      const double c = spread * step;
      const uint8_t column =
          add([&](double t) { return std::log1p((t - start_) / c); }, 1 / (c + span_), 0);
      shape(Family::records, kPrior.records / 3, {one_, column}, true, c);
    }
  }

  // A cache whose keys differ in popularity fills fast and then ever more slowly, longer than any
  // single exponential: 1 - exp(-sqrt(t/tau)).
  void stretched_shapes(double step, double slowest) {
    std::vector<double> taus;
    for (double tau = 0.7 * step; tau <= slowest; tau *= kTauRatio * kTauRatio) taus.push_back(tau);
    for (const double tau : taus) {
      const double root = std::sqrt(span_ / tau);
      const double left = std::exp(-root);
      const uint8_t column =
          add([&](double t) { return 1 - std::exp(-std::sqrt((t - start_) / tau)); },
              left / (2 * root * tau), left);
      shape(Family::saturating, kPrior.stretched / static_cast<double>(taus.size()), {one_, column},
            true, tau);
    }
  }

  // Two causes that both end: a quick warm-up and a slow one, or a first pass over the data and
  // something that saturates beside it. They mirror "linear after a warm-up" and "linear after the
  // first epoch": without them every slowing climb with two speeds would read as a leak.
  void two_stage_shapes() {
    std::vector<std::pair<size_t, size_t>> pairs;
    for (size_t fast = 0; fast < saturating_.size(); fast += 3) {
      for (size_t slow = fast + 4; slow < saturating_.size(); slow += 3) {
        pairs.emplace_back(fast, slow);
      }
    }
    for (const auto& [fast, slow] : pairs) {
      shape(Family::saturating, kPrior.two_stage / static_cast<double>(pairs.size()),
            {one_, saturating_[fast].second, saturating_[slow].second}, true,
            saturating_[slow].first);
    }
  }

  void hinge_shapes() {
    const size_t stride = rows_ > 24 ? 2 : 1;
    const size_t tail = std::max<size_t>(3, rows_ / kHingeTail);
    std::vector<double> hinges;
    for (size_t k = 2; k + tail <= rows_; k += stride) hinges.push_back(floors_.at[k]);
    if (!hinges.empty()) hinges.push_back(best_hinge(floors_, hinges));
    for (const double c : hinges) {
      const uint8_t column = add([&](double t) { return (std::min(t, c) - start_) / span_; }, 0, 0);
      shape(Family::capacity, kPrior.capacity / static_cast<double>(hinges.size()), {one_, column},
            true, c);
    }
    std::vector<size_t> starts;
    for (size_t k = 2; k + 3 <= rows_; k += stride + 1) starts.push_back(k);
    for (const size_t k : starts) {
      const double c = floors_.at[k];
      const uint8_t column =
          add([&](double t) { return std::max(0.0, t - c) / span_; }, 1 / span_, 0);
      shape(Family::late_start, kPrior.late_start / static_cast<double>(starts.size()),
            {one_, column}, true, c);
    }
  }

  void epoch_shapes() {
    const double epoch = timeline_.epoch_steps;
    if (epoch <= start_ || epoch >= now_) return;
    const uint8_t until =
        add([&](double t) { return (std::min(t, epoch) - start_) / span_; }, 0, 0);
    // Later examples may be larger or smaller than the first: the fill may bend a little.
    const uint8_t bend =
        add([&](double t) { return square((std::min(t, epoch) - start_) / span_); }, 0, 0);
    shape(Family::epoch_hinge, kPrior.epoch_hinge * 0.7, {one_, until}, true, epoch);
    shape(Family::epoch_hinge, kPrior.epoch_hinge * 0.3, {one_, bend, until}, false, epoch);
    shape(Family::linear_after_epoch, kPrior.after_epoch, {one_, until, linear_}, true, epoch);
    for (const auto& [tau, column] : saturating_) {
      shape(Family::epoch_hinge, kPrior.epoch_and_slow / static_cast<double>(saturating_.size()),
            {one_, until, column}, true, epoch);
    }
    // Within-epoch ramps need a release to be seen: a third into the second epoch.
    if (now_ < 1.33 * epoch) return;
    const uint8_t ramp = add([&](double t) { return std::fmod(t, epoch) / epoch; }, 0, 0);
    shape(Family::epoch_ramp, kPrior.epoch_ramp * 0.6, {one_, ramp}, true, epoch);
    shape(Family::epoch_ramp, kPrior.epoch_ramp * 0.4, {one_, until, ramp}, true, epoch);
    shape(Family::linear, kPrior.linear * 0.05, {one_, ramp, linear_}, true);
  }

  void filling_shapes() {
    const double epoch = timeline_.epoch_steps;
    if (now_ >= timeline_.deadline) return;
    const bool epoch_ahead = epoch > now_;
    const double prior =
        epoch_ahead || epoch <= 0 ? kPrior.filling_before_epoch : kPrior.filling_after_epoch;
    const double ends_at = epoch_ahead ? epoch : timeline_.deadline;
    shape(Family::still_filling, prior * 0.7, {one_, linear_}, true, 0, ends_at);
    shape(Family::still_filling, prior * 0.3, {one_, linear_, square_}, true, 0, ends_at);
  }

  void straight_shapes() {
    shape(Family::flat, kPrior.flat, {one_}, false);
    shape(Family::linear, kPrior.linear, {one_, linear_}, true);
    shape(Family::accelerating, kPrior.accelerating, {one_, linear_, square_}, true);
  }

  // A staircase with one equal step per event, alone or after a larger first one; against it, the
  // first few events allocate something that later ones use again. Until kEventsToJudge events have
  // passed, "those were the first few" fits as well as "it goes on": the deadline of this clock.
  void event_shapes(const std::vector<double>& events, Family family) {
    std::vector<double> inside;
    for (const double at : events) {
      if (at > start_ && at < now_) inside.push_back(at);
    }
    if (inside.empty()) return;
    const auto count = static_cast<double>(inside.size());
    const auto passed = [&](double t) {
      return static_cast<double>(std::upper_bound(inside.begin(), inside.end(), t) -
                                 inside.begin());
    };
    const uint8_t stairs = add([&](double t) { return passed(t) / count; }, 1 / span_, 0);
    std::array<uint8_t, kEventsToJudge - 1> nth{};
    const size_t known = std::min(inside.size(), nth.size());
    for (size_t k = 0; k < known; ++k) {
      nth[k] = add([&](double t) { return t >= inside[k] ? 1.0 : 0.0; }, 0, 0);
    }
    const double share = kPrior.per_event / static_cast<double>(known);
    shape(Family::first_events, share, {one_, nth[0]}, true, inside[0]);
    if (known > 1) shape(Family::first_events, share, {one_, nth[0], nth[1]}, true, inside[1]);
    if (known > 2) {
      shape(Family::first_events, share, {one_, nth[0], nth[1], nth[2]}, true, inside[2]);
    }
    if (known == 1) {
      shape(family, kPrior.per_event, {one_, stairs}, true);
      return;
    }
    shape(family, kPrior.per_event * 0.67, {one_, stairs}, true);
    shape(family, kPrior.per_event * 0.33, {one_, nth[0], stairs}, true);
  }

  std::vector<double> epoch_ends() const {
    std::vector<double> ends;
    // Epochs of a few steps are finer than the floors; growth per epoch is then growth per step.
    if (timeline_.epoch_steps < 3 * span_ / static_cast<double>(rows_)) return ends;
    for (double at = timeline_.epoch_steps; at < now_; at += timeline_.epoch_steps) {
      ends.push_back(at);
    }
    return ends.size() >= 2 ? ends : std::vector<double>();
  }

  void step_candidates() {
    std::vector<std::pair<double, size_t>> jumps;
    for (size_t i = 1; i < rows_; ++i) {
      jumps.emplace_back(-std::fabs(floors_.mb[i] - floors_.mb[i - 1]), i);
    }
    std::sort(jumps.begin(), jumps.end());
    for (const auto& [jump, row] : jumps) {
      if (-jump < 2 * noise_floor_mb_ || list_.step_rows.size() == kStepCandidates) break;
      // A jump at an evaluation or checkpoint is that event's doing, and the event shapes' to
      // explain; as a one-off it would let a staircase pass for a series of accidents.
      if (row_at_event(floors_, row, timeline_.evaluations) ||
          row_at_event(floors_, row, timeline_.checkpoints)) {
        continue;
      }
      const double at = floors_.at[row];
      list_.step_rows.push_back(row);
      list_.step_columns.push_back(add([&](double t) { return t >= at ? 1.0 : 0.0; }, 0, 0));
    }
  }

  void settle_candidates() {
    const size_t tail = std::max<size_t>(4, rows_ / kHingeTail);
    for (size_t k = 1; k + tail <= rows_; k += rows_ > 24 ? 2 : 1) list_.settle_rows.push_back(k);
  }

  // Makes each camp's weights sum to one half and takes logarithms.
  void normalise() {
    const bool settles = !list_.settle_rows.empty();
    const double settled = settles ? kPrior.settled * scale_of(Family::settled) : 0;
    const double climbing =
        settles ? kPrior.settled_then_linear * scale_of(Family::settled_then_linear) : 0;
    const double slowing = kPrior.slowing_steps * scale_of(Family::slowing_steps);
    const double random = kPrior.random_steps * scale_of(Family::random_steps);
    double bounded = settled + slowing;
    double unbounded = climbing + random;
    for (const Shape& shape : list_.shapes) {
      (is_bounded(shape.family) ? bounded : unbounded) += shape.log_prior;
    }
    for (Shape& shape : list_.shapes) {
      const double total = is_bounded(shape.family) ? bounded : unbounded;
      shape.log_prior = std::log(0.5 * shape.log_prior / total);
    }
    list_.slowing_log_prior = std::log(0.5 * slowing / bounded);
    list_.random_log_prior = std::log(0.5 * random / unbounded);
    if (!settles) return;
    const auto rows = static_cast<double>(list_.settle_rows.size());
    list_.settle_log_prior = std::log(0.5 * settled / bounded / rows);
    list_.settle_linear_log_prior = std::log(0.5 * climbing / unbounded / rows);
  }

  const Floors& floors_;
  const Timeline& timeline_;
  const Policy::Tuning& tuning_;
  double noise_floor_mb_;
  size_t rows_;
  double start_;
  double now_;
  double span_;
  uint8_t one_ = 0;
  uint8_t linear_ = 0;
  uint8_t square_ = 0;
  std::vector<std::pair<double, uint8_t>> saturating_;  // tau and column, tau rising.
  ShapeList list_;
};

}  // namespace

std::string_view family_name(Family family) {
  return kNames[static_cast<size_t>(family)];
}

double warmup_deadline(Clock clock, double epoch_steps, double total_steps, double warmup_epochs) {
  if (epoch_steps > 0) return warmup_epochs * epoch_steps;
  double unknown = 500;
  if (clock == Clock::seconds) unknown = 3600;
  if (clock == Clock::samples) unknown = 200;
  return std::max(unknown, 0.25 * total_steps);
}

ShapeList list_shapes(const Floors& floors, const Timeline& timeline, double noise_floor_mb,
                      const Policy::Tuning& tuning) {
  return Builder(floors, timeline, noise_floor_mb, tuning).build();
}

bool row_at_event(const Floors& floors, size_t row, const std::vector<double>& events) {
  const double low = row > 0 ? floors.at[row - 1] : floors.at[row];
  const double high = row + 1 < floors.at.size() ? floors.at[row + 1] : floors.now;
  return std::any_of(events.begin(), events.end(),
                     [&](double at) { return at >= low && at <= high; });
}

}  // namespace plateau
