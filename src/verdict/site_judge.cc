// SPDX-License-Identifier: Apache-2.0
// Screens one series, has the others decided, and turns the decision into a word; the method is
// told in site_growth.h.
#include <algorithm>
#include <cmath>

#include "base/statistics.h"
#include "verdict/epoch_end.h"
#include "verdict/outlook.h"
#include "verdict/site_series.h"

namespace plateau {
namespace {

constexpr double kMostConfident = 0.999;

// Growth has to exceed so many standard errors of sampling.
constexpr double kErrorsThatMatter = 3;
// Churn: so many times its peak was freed again.
constexpr double kTurnover = 2;
// Blocks younger than this share of the run turn over.
constexpr double kYoungShare = 0.1;
// Net growth over all movement of the floor: a climb is near 1, a wavering level near 0.
constexpr double kWavers = 0.5;

// A spike is over: back below half of its peak, and above half for less than half of the run.
constexpr double kSpikeOver = 0.5;

// Jumps: at most so many, and together this share of the growth.
constexpr size_t kMostJumps = 3;
constexpr double kJumpShare = 0.85;
// A ramp of two rows must not pass for jumps: per jump there are at least so many rows.
constexpr size_t kRowsPerJump = 5;

class SiteJudge {
 public:
  SiteJudge(const SiteSeries& series, const SeriesClock& clock, const Policy& policy)
      : series_(series), policy_(policy), batch_(clock.batch) {
    site_.series = &series;
    site_.clock = clock.clock;
    site_.timeline = clock.timeline;
  }

  SiteVerdict judge() {
    if (series_.points.empty()) {
      verdict_.why = {FindingKind::site_unmeasured, {}, {}};
      return verdict_;
    }
    measure();
    if (!screened_out()) decide_word();
    fill_rate();
    describe_site(site_, verdict_);
    return verdict_;
  }

 private:
  void measure() {
    site_.floors = find_floors(series_.points, policy_.tuning.floors);
    for (const TimedValue& point : series_.points) {
      if (point.mb <= site_.peak_mb) continue;
      site_.peak_mb = point.mb;
      site_.peak_at = point.at;
    }
    site_.peak_mb = std::max(site_.peak_mb, series_.turnover.peak_mb);
    verdict_.live_mb = series_.points.back().mb;
    verdict_.error_mb = sampling_error(series_, verdict_.live_mb);
    verdict_.median_age_steps = series_.turnover.median_age;
    const Floors& floors = site_.floors;
    if (floors.opened.size() >= 2) {
      verdict_.growth_mb = floors.teeth > 0 ? floors.mb.back() - floors.mb.front()
                                            : floors.opened.back().mb - floors.opened.front().mb;
    }
    matters_mb_ = std::max(series_.matters_mb, kErrorsThatMatter * growth_error(series_));
    verdict_.grew = verdict_.growth_mb >= matters_mb_;
  }

  // Is there anything to weigh? If not, the word is given here.
  bool screened_out() {
    if (over_and_gone()) {
      verdict_.word = GrowthWord::spike;
      verdict_.confidence = kMostConfident;
      return true;
    }
    // A floor that rose and is back is no growth; one that is still up is.
    if (verdict_.grew && series_.points.size() >= 3) return false;
    verdict_.word = turns_over() ? GrowthWord::churn : GrowthWord::level;
    const double error = growth_error(series_);
    const double room = matters_mb_ - verdict_.growth_mb;
    verdict_.confidence =
        error > 0 ? std::min(kMostConfident, normal_cdf(room / error)) : kMostConfident;
    if (series_.points.size() < kMinSamples) {
      verdict_.word = GrowthWord::undecided;
      verdict_.confidence = 0;
    }
    return true;
  }

  [[nodiscard]] bool over_and_gone() const {
    const std::vector<TimedValue>& points = series_.points;
    if (points.size() < kMinSamples || turns_over()) return false;
    const double low = std::min_element(points.begin(), points.end(), lower)->mb;
    const double peak = std::max_element(points.begin(), points.end(), lower)->mb;
    if (peak - low < std::max(matters_mb_, kErrorsThatMatter * sampling_error(series_, peak))) {
      return false;
    }
    const double half = low + kSpikeOver * (peak - low);
    const auto high = std::count_if(points.begin(), points.end(),
                                    [half](const TimedValue& p) { return p.mb > half; });
    return points.back().mb <= half && 2 * static_cast<size_t>(high) < points.size() &&
           excursions(half) <= 2;
  }

  [[nodiscard]] size_t excursions(double above) const {
    size_t count = 0;
    bool inside = false;
    for (const TimedValue& point : series_.points) {
      if (point.mb > above && !inside) ++count;
      inside = point.mb > above;
    }
    return count;
  }

  static bool lower(const TimedValue& a, const TimedValue& b) { return a.mb < b.mb; }

  [[nodiscard]] bool turns_over() const {
    return site_.floors.teeth > 0 || (series_.turnover.freed_mb > 0 &&
                                      series_.turnover.freed_mb >= kTurnover * site_.peak_mb);
  }

  void decide_word() {
    std::vector<TimedValue> units = series_.points;
    const double low = std::min_element(units.begin(), units.end(), lower)->mb;
    site_.unit_mb = matters_mb_ / kToleratedMb;  // A plateau tolerates what does not matter.
    for (TimedValue& point : units) point.mb = (point.mb - low) / site_.unit_mb;
    site_.decision = decide(units, site_.timeline, policy_, 0);
    verdict_.confidence = std::min(site_.decision.confidence, kMostConfident);
    switch (site_.decision.word) {
      case Word::leak:
        verdict_.word = GrowthWord::unbounded;
        break;
      case Word::warming:
        verdict_.word = GrowthWord::filling;
        break;
      case Word::plateau:
        verdict_.word = settled_word();
        break;
      case Word::undecided:
        verdict_.word = wavers_young() ? GrowthWord::churn : GrowthWord::undecided;
        site_.known_by = decides_at(site_.decision, site_.timeline).value_or(0);
        break;
    }
  }

  GrowthWord settled_word() {
    const auto settled = find_settled(site_.decision, site_.timeline);
    site_.settled_at = settled ? settled->step : series_.points.back().at;
    if (ends_with_epoch(site_.settled_at)) site_.settled_at = site_.timeline.epoch_steps;
    find_jumps();
    return site_.jumps.empty() ? GrowthWord::grown : GrowthWord::one_off;
  }

  // The few rises that make up the growth; none if it came gradually.
  void find_jumps() {
    const std::vector<TimedValue>& opened = site_.floors.opened;
    std::vector<Jump> rises;
    for (size_t i = 1; i < opened.size(); ++i) {
      rises.push_back({opened[i].at, opened[i].mb - opened[i - 1].mb});
    }
    std::sort(rises.begin(), rises.end(), [](const Jump& a, const Jump& b) { return a.mb > b.mb; });
    const size_t most = std::min(kMostJumps, std::max<size_t>(1, opened.size() / kRowsPerJump));
    double sum = 0;
    for (size_t i = 0; i < std::min(most, rises.size()); ++i) {
      sum += rises[i].mb;
      if (sum < kJumpShare * verdict_.growth_mb) continue;
      rises.resize(i + 1);
      site_.jumps = std::move(rises);
      return;
    }
  }

  [[nodiscard]] bool wavers_young() const {
    if (!turns_over() || series_.turnover.freed_mb <= 0) return false;
    const std::vector<double>& mb = site_.floors.mb;
    double moved = 0;
    for (size_t i = 1; i < mb.size(); ++i) moved += std::fabs(mb[i] - mb[i - 1]);
    const double span = series_.points.back().at - series_.points.front().at;
    return series_.turnover.median_age < kYoungShare * span &&
           mb.back() - mb.front() < kWavers * moved;
  }

  void fill_rate() {
    const double from = series_.points.front().at;
    const double until =
        verdict_.word == GrowthWord::grown ? site_.settled_at : series_.points.back().at;
    const double span = std::max(until - from, 1e-9);
    const double sampling = kZ90 * growth_error(series_) / span;
    double rate = 0;
    Interval range;
    const Posterior& posterior = site_.decision.posterior;
    switch (verdict_.word) {
      case GrowthWord::unbounded:
      case GrowthWord::filling:
      case GrowthWord::undecided: {
        // Of too few rows no shape can be told; what they rose by is all there is.
        if (posterior.fits.empty() || series_.points.size() < kMinSamples) {
          rate = verdict_.growth_mb / span;
          range = {std::min(0.0, rate), std::max(0.0, 2 * rate)};
          break;
        }
        const PooledRate pooled = pooled_rate(posterior, verdict_.word == GrowthWord::unbounded);
        rate = pooled.mean * site_.unit_mb;
        range = {pooled.range.low * site_.unit_mb, pooled.range.high * site_.unit_mb};
        break;
      }
      case GrowthWord::grown: {
        const Slope climb = climb_until(site_.floors, from, until);
        rate = climb.rate;
        range = climb.range;
        break;
      }
      default:
        break;
    }
    verdict_.rate_mb_per_step = rate;
    verdict_.rate_range = {rate - std::hypot(rate - range.low, sampling),
                           rate + std::hypot(range.high - rate, sampling)};
    fill_end();
  }

  [[nodiscard]] bool ends_with_epoch(double at) const {
    return ended_at_epoch(at, site_.timeline.epoch_steps, kSiteEpochTolerance);
  }

  void fill_end() {
    if (verdict_.word == GrowthWord::filling) {
      const auto forecast = forecast_plateau(site_.decision, site_.timeline);
      if (forecast) verdict_.ends_at_step = forecast->at_step;
    } else if (verdict_.word == GrowthWord::grown) {
      verdict_.ends_at_step = site_.settled_at;
    }
    if (batch_ <= 0 || !verdict_.ends_at_step) return;
    if (!ends_with_epoch(*verdict_.ends_at_step)) return;
    verdict_.mb_per_example = verdict_.rate_mb_per_step / batch_;
  }

  const SiteSeries& series_;
  const Policy& policy_;
  SiteCase site_;
  SiteVerdict verdict_;
  double matters_mb_ = 0;
  double batch_ = 0;  // Examples per step, 0 if unknown.
};

}  // namespace

double sampling_error(const SiteSeries& series, double mb) {
  return std::sqrt(series.variance_mb * std::max(0.0, mb));
}

double growth_error(const SiteSeries& series) {
  if (series.points.empty()) return 0;
  return std::hypot(sampling_error(series, series.points.front().mb),
                    sampling_error(series, series.points.back().mb));
}

SiteVerdict judge_site(const SiteSeries& series, const SeriesClock& clock, const Policy& policy) {
  return SiteJudge(series, clock, policy).judge();
}

}  // namespace plateau
