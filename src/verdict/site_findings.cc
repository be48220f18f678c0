// SPDX-License-Identifier: Apache-2.0
// The evidence for a site's word, as one finding.
#include <algorithm>
#include <array>

#include "verdict/explanations.h"
#include "verdict/site_series.h"

namespace plateau {
namespace {

using Kind = FindingKind;

// A wording has places for this many jumps; the largest are told.
constexpr size_t kMostJumps = 3;

class Describer {
 public:
  Describer(const SiteCase& site, SiteVerdict& verdict) : site_(site), verdict_(verdict) {}

  Finding describe() {
    switch (verdict_.word) {
      case GrowthWord::unbounded:
        return with_span({Kind::site_unbounded, {grown()}, camp("unbounded", false)});
      case GrowthWord::filling:
        return filling();
      case GrowthWord::grown:
        return with_example(
            {Kind::site_grown, {grown(), {"settled_step", site_.settled_at, Unit::moment}}, {}});
      case GrowthWord::one_off:
        return jumps();
      case GrowthWord::churn:
        return churn();
      case GrowthWord::spike:
        return {Kind::site_spiked,
                {{"peak_mb", site_.peak_mb, Unit::mb},
                 {"peak_step", site_.peak_at, Unit::moment},
                 live()},
                {}};
      case GrowthWord::level:
        return level();
      case GrowthWord::undecided:
        break;
    }
    return open();
  }

 private:
  [[nodiscard]] Number grown() const { return {"growth_mb", verdict_.growth_mb, Unit::change}; }
  [[nodiscard]] Number live() const { return {"live_mb", verdict_.live_mb, Unit::mb}; }

  // The likeliest of a camp as a name, if there is one.
  [[nodiscard]] std::vector<Name> camp(std::string_view slot, bool bounded) const {
    const Explanation* found = likeliest(verdict_.explanations, bounded);
    return found == nullptr ? std::vector<Name>() : std::vector<Name>{named(slot, *found)};
  }

  [[nodiscard]] Finding with_span(Finding finding) const {
    const std::vector<TimedValue>& points = site_.series->points;
    finding.numbers.push_back({"first_step", points.front().at, Unit::moment});
    finding.numbers.push_back({"last_step", points.back().at, Unit::moment});
    return finding;
  }

  [[nodiscard]] Finding with_example(Finding finding) const {
    if (!verdict_.mb_per_example) return finding;
    finding.numbers.push_back({"epoch_steps", site_.timeline.epoch_steps, Unit::moment});
    finding.numbers.push_back({"mb_per_example", *verdict_.mb_per_example, Unit::mb});
    return finding;
  }

  [[nodiscard]] Finding filling() const {
    Finding finding{Kind::site_filling, {grown()}, camp("bounded", true)};
    if (!verdict_.ends_at_step) return finding;
    finding.numbers.push_back({"end_step", *verdict_.ends_at_step, Unit::moment});
    return with_example(std::move(finding));
  }

  [[nodiscard]] Finding jumps() const {
    static constexpr std::array<std::array<std::string_view, 2>, kMostJumps> kSlots = {
        {{"jump_1_mb", "jump_1_step"}, {"jump_2_mb", "jump_2_step"}, {"jump_3_mb", "jump_3_step"}}};
    std::vector<Jump> by_time(
        site_.jumps.begin(),
        site_.jumps.begin() + std::min<std::ptrdiff_t>(kMostJumps, std::ssize(site_.jumps)));
    std::sort(by_time.begin(), by_time.end(),
              [](const Jump& a, const Jump& b) { return a.at < b.at; });
    Finding finding{Kind::site_jumped, {{"jumps", static_cast<double>(site_.jumps.size())}}, {}};
    for (size_t i = 0; i < by_time.size(); ++i) {
      finding.numbers.push_back({kSlots[i][0], by_time[i].mb, Unit::change});
      finding.numbers.push_back({kSlots[i][1], by_time[i].at, Unit::moment});
    }
    return finding;
  }

  [[nodiscard]] Finding churn() const {
    if (site_.floors.teeth > 0) {
      return {Kind::site_teeth,
              {{"height_mb", site_.floors.teeth_mb, Unit::mb},
               {"period_steps", std::max(1.0, site_.floors.teeth_period), Unit::length}},
              {}};
    }
    const SiteTurnover& turnover = site_.series->turnover;
    return {Kind::site_churns,
            {{"allocated_mb", turnover.allocated_mb, Unit::mb},
             {"freed_mb", turnover.freed_mb, Unit::mb},
             live()},
            {}};
  }

  [[nodiscard]] Finding level() const {
    const double error = growth_error(*site_.series);
    if (verdict_.growth_mb > 0 && error > 0 && verdict_.growth_mb > error) {
      return {Kind::site_within_error, {grown(), {"error_mb", error, Unit::mb}}, {}};
    }
    return {Kind::site_level, {live()}, {}};
  }

  [[nodiscard]] Finding open() const {
    const size_t rows = site_.series->points.size();
    if (rows < kMinSamples || verdict_.explanations.empty()) {
      return {Kind::site_too_short, {grown(), {"rows", static_cast<double>(rows)}}, {}};
    }
    const Explanation& first = verdict_.explanations.front();
    Finding finding{Kind::site_open, {grown()}, {named("likelier", first)}};
    for (Name& name : camp("other", !first.bounded)) finding.names.push_back(std::move(name));
    if (site_.known_by > 0) {
      finding.numbers.push_back({"decides_at_step", site_.known_by, Unit::moment});
    }
    return with_span(std::move(finding));
  }

  const SiteCase& site_;
  SiteVerdict& verdict_;
};

}  // namespace

void describe_site(const SiteCase& site, SiteVerdict& verdict) {
  verdict.clock = site.clock;
  verdict.unit = site.series->unit;
  if (!site.decision.posterior.fits.empty()) {
    verdict.explanations = explain(site.decision);
  }
  verdict.why = Describer(site, verdict).describe();
  // There may be a thousand sites: only what the finding names is kept.
  std::erase_if(verdict.explanations, [&verdict](const Explanation& each) {
    return std::none_of(verdict.why.names.begin(), verdict.why.names.end(),
                        [&each](const Name& name) { return name.text == each.name; });
  });
}

}  // namespace plateau
