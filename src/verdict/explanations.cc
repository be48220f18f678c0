// SPDX-License-Identifier: Apache-2.0
#include "verdict/explanations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"

namespace plateau {
namespace {

std::string describe(const Fit& fit, Clock clock) {
  return fmt::format(fmt::runtime(fit.family->phrase_for(fit)),
                     fmt::arg("when", clock_words(clock, fit.parameter)),
                     fmt::arg("end", clock_words(clock, fit.ends_at)));
}

// What the fit expected over the last third of the run against what happened there.
void compare_recent(const Fit& fit, const Decision& decision, Clock clock, Explanation& out) {
  const Floors& floors = decision.floors;
  const size_t row = floors.at.size() * 2 / 3;
  const double from = floors.at[row];
  const double seen = floors.mb.back() - floors.mb[row];
  const std::string since = "since " + clock_words(clock, from);
  if (!out.bounded) {
    const double expected = fit.rate * (floors.now - from);
    if (expected <= 0) {
      out.speaks_against.push_back("its growth comes out negative");
    } else if (seen < 0.5 * expected) {
      out.speaks_against.push_back(fmt::format("{} it expects {}, the floor moved by {}", since,
                                               format_mb_signed(expected), format_mb_signed(seen)));
    } else {
      out.speaks_for.push_back(
          fmt::format("{} the floor rose by {}, as it expects", since, format_mb_signed(seen)));
    }
  } else if (fit.remaining <= decision.tolerated_mb && fit.family->end != End::ever_slower) {
    if (seen > decision.tolerated_mb) {
      out.speaks_against.push_back(
          fmt::format("{} the floor still rose by {}", since, format_mb_signed(seen)));
    } else {
      out.speaks_for.push_back(
          fmt::format("{} the floor moved by only {}", since, format_mb_signed(seen)));
    }
  }
}

void weigh_words(const FamilyWeight& family, const Decision& decision, Clock clock,
                 Explanation& out) {
  const Fit& fit = family.best;
  const std::string fits = fmt::format("fits the floors to ± {}", format_mb(fit.sigma));
  if (family.log_odds > -3) {
    out.speaks_for.push_back(fits);
  } else {
    // Odds in powers of ten read better than e^-81.
    const double digits = -family.log_odds / std::log(10.0);
    out.speaks_against.push_back(
        digits > 6 ? fits + ": hopelessly worse than the best"
                   : fmt::format("{}: 1 : {:.0f} against the best", fits, std::pow(10.0, digits)));
  }
  if (fit.steps > 0) {
    out.speaks_against.push_back(
        fmt::format("needs {} at {}", fit.steps == 1 ? "a one-off step" : "two one-off steps",
                    clock_words(clock, fit.step_at)));
  }
  compare_recent(fit, decision, clock, out);
}

}  // namespace

std::string clock_words(Clock clock, double at) {
  switch (clock) {
    case Clock::steps:
      return "step " + format_count(std::llround(at));
    case Clock::seconds:
      return format_seconds(at);
    case Clock::samples:
      return "sample " + format_count(std::llround(at) + 1);
  }
  return "";
}

std::string per_clock_words(Clock clock) {
  return "per " + std::string(clock_unit(clock));
}

std::vector<Explanation> explain(const Decision& decision, const Timeline& /*timeline*/,
                                 Clock clock) {
  std::vector<Explanation> list;
  for (const FamilyWeight& family : decision.posterior.families) {
    if (!family.considered) continue;
    const Fit& fit = family.best;
    Explanation out;
    out.name = fit.family->name;
    out.words = describe(fit, clock);
    out.bounded = fit.family->bounded;
    out.weight = family.weight;
    out.rate_mb_per_step = fit.rate;
    if (out.bounded) {
      if (!fit.open_end) out.plateau_mb = fit.level_now + std::max(0.0, fit.remaining);
      out.ends_at_step = fit.family->ends(fit);
    }
    weigh_words(family, decision, clock, out);
    list.push_back(std::move(out));
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const Explanation& a, const Explanation& b) { return a.weight > b.weight; });
  return list;
}

}  // namespace plateau
