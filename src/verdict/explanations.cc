// SPDX-License-Identifier: Apache-2.0
#include "verdict/explanations.h"

#include <algorithm>
#include <cmath>

namespace plateau {
namespace {

// What the fit expected over the last third of the run against what happened there.
void compare_recent(const Fit& fit, const Decision& decision, Explanation& out) {
  const Floors& floors = decision.floors;
  const size_t row = floors.at.size() * 2 / 3;
  const Number since{"since_step", floors.at[row], Unit::moment};
  const Number seen{"seen_mb", floors.mb.back() - floors.mb[row], Unit::change};
  if (!out.bounded) {
    const double expected = fit.rate * (floors.now - floors.at[row]);
    if (expected <= 0) {
      out.speaks_against.push_back({FindingKind::growth_is_negative, {}, {}});
    } else if (seen.value < 0.5 * expected) {
      out.speaks_against.push_back({FindingKind::expected_more_growth,
                                    {since, {"expected_mb", expected, Unit::change}, seen},
                                    {}});
    } else {
      out.speaks_for.push_back({FindingKind::rose_as_expected, {since, seen}, {}});
    }
  } else if (fit.remaining <= decision.tolerated_mb && fit.family->end != End::ever_slower) {
    if (seen.value > decision.tolerated_mb) {
      out.speaks_against.push_back({FindingKind::still_rose, {since, seen}, {}});
    } else {
      out.speaks_for.push_back({FindingKind::hardly_moved, {since, seen}, {}});
    }
  }
}

// Beyond these odds a reader learns nothing from their number.
constexpr double kHopelessLogOdds = -13.8;  // log(1e-6)
constexpr double kNearTheBest = -3;

void weigh_for_and_against(const FamilyWeight& family, const Decision& decision, Explanation& out) {
  const Fit& fit = family.best;
  const Number sigma{"sigma_mb", fit.sigma, Unit::mb};
  if (family.log_odds > kNearTheBest) {
    out.speaks_for.push_back({FindingKind::fits_to, {sigma}, {}});
  } else if (family.log_odds < kHopelessLogOdds) {
    out.speaks_against.push_back({FindingKind::fits_far_worse, {sigma}, {}});
  } else {
    out.speaks_against.push_back(
        {FindingKind::fits_worse, {sigma, {"odds", std::exp(-family.log_odds)}}, {}});
  }
  if (fit.steps > 0) {
    out.speaks_against.push_back(
        {FindingKind::needs_one_off_steps,
         {{"one_off_steps", static_cast<double>(fit.steps)}, {"step", fit.step_at, Unit::moment}},
         {}});
  }
  compare_recent(fit, decision, out);
}

}  // namespace

std::vector<Explanation> explain(const Decision& decision) {
  std::vector<Explanation> list;
  for (const FamilyWeight& family : decision.posterior.families) {
    if (!family.considered) continue;
    const Fit& fit = family.best;
    Explanation out;
    out.name = fit.family->name;
    out.phrase = fit.family->phrase_for(fit);
    out.when = fit.parameter;
    out.end = fit.ends_at;
    out.bounded = fit.family->bounded;
    out.weight = std::min(family.weight, 1.0);  // A sum of shares may round above it.
    out.rate_mb_per_step = fit.rate;
    if (out.bounded) {
      const double level_mb = fit.level_now + std::max(0.0, fit.remaining);
      if (!fit.open_end && level_mb > 0) out.plateau_mb = level_mb;
      out.ends_at_step = fit.family->ends(fit);
    }
    weigh_for_and_against(family, decision, out);
    list.push_back(std::move(out));
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const Explanation& a, const Explanation& b) { return a.weight > b.weight; });
  return list;
}

const Explanation* likeliest(const std::vector<Explanation>& explanations, bool bounded) {
  for (const Explanation& explanation : explanations) {
    if (explanation.bounded == bounded) return &explanation;
  }
  return nullptr;
}

Name named(std::string_view slot, const Explanation& explanation) {
  return {slot, explanation.name, NameKind::explanation};
}

}  // namespace plateau
