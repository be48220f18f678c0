// SPDX-License-Identifier: Apache-2.0
// The evidence for a site's word, as one sentence.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "verdict/explanations.h"
#include "verdict/site_series.h"

namespace plateau {
namespace {

class Sentence {
 public:
  Sentence(const SiteCase& site, const SiteVerdict& verdict) : site_(site), verdict_(verdict) {
    if (!site.decision.posterior.fits.empty()) {
      explanations_ = explain(site.decision, site.timeline, site.clock);
    }
  }

  [[nodiscard]] std::string text() const {
    switch (verdict_.word) {
      case GrowthWord::unbounded:
        return fmt::format("{}: {} over {}, and nothing that ends explains it", likeliest(false),
                           rise(verdict_.growth_mb), span());
      case GrowthWord::filling:
        return fmt::format("{}: {} so far{}", likeliest(true), rise(verdict_.growth_mb), end());
      case GrowthWord::grown:
        return fmt::format("{} until {}, level since{}", rise(verdict_.growth_mb),
                           when(site_.settled_at), per_example());
      case GrowthWord::one_off:
        return jumps();
      case GrowthWord::churn:
        return churn();
      case GrowthWord::spike:
        return fmt::format("rose to {} at {} and fell back; {} now", amount(site_.peak_mb),
                           when(site_.peak_at), amount(verdict_.live_mb));
      case GrowthWord::level:
        return level();
      case GrowthWord::undecided:
        break;
    }
    return undecided();
  }

 private:
  [[nodiscard]] std::string amount(double mb) const {
    return counts() ? format_count(std::llround(mb)) : format_mb(mb);
  }
  [[nodiscard]] std::string rise(double mb) const {
    return counts() ? fmt::format("{}{}", mb < 0 ? "" : "+", format_count(std::llround(mb)))
                    : format_mb_signed(mb);
  }
  [[nodiscard]] bool counts() const { return site_.series->unit == SeriesUnit::count; }
  [[nodiscard]] std::string when(double at) const { return clock_words(site_.clock, at); }
  [[nodiscard]] std::string span() const {
    const auto& points = site_.series->points;
    const std::string to = site_.clock == Clock::seconds
                               ? when(points.back().at)
                               : format_count(std::llround(points.back().at));
    if (site_.clock == Clock::seconds && points.front().at < 0.5) return "the first " + to;
    if (site_.clock != Clock::steps) return when(points.front().at) + " to " + to;
    return fmt::format("steps {}–{}", format_count(std::llround(points.front().at)), to);
  }

  [[nodiscard]] std::string likeliest(bool bounded) const {
    for (const Explanation& explanation : explanations_) {
      if (explanation.bounded == bounded) return explanation.words;
    }
    return bounded ? "warm-up" : "growth";
  }

  [[nodiscard]] std::string end() const {
    if (!verdict_.ends_at_step) return ", with an end that cannot be dated yet";
    return fmt::format(", ends about {}{}", when(*verdict_.ends_at_step), per_example());
  }

  [[nodiscard]] std::string per_example() const {
    if (!verdict_.mb_per_example) return "";
    return fmt::format("; the first pass over the data ends at {}: {} per example",
                       when(site_.timeline.epoch_steps),
                       counts() ? fmt::format("{:.3g}", *verdict_.mb_per_example)
                                : format_mb(*verdict_.mb_per_example));
  }

  [[nodiscard]] std::string jumps() const {
    std::vector<Jump> by_time = site_.jumps;
    std::sort(by_time.begin(), by_time.end(),
              [](const Jump& a, const Jump& b) { return a.at < b.at; });
    std::vector<std::string> parts;
    parts.reserve(by_time.size());
    for (const Jump& jump : by_time) {
      parts.push_back(fmt::format("{} at {}", rise(jump.mb), when(jump.at)));
    }
    return fmt::format("came in {}: {}; no growth since",
                       parts.size() == 1 ? "one jump" : fmt::format("{} jumps", parts.size()),
                       fmt::join(parts, ", "));
  }

  [[nodiscard]] std::string churn() const {
    const Floors& floors = site_.floors;
    if (floors.teeth > 0) {
      return fmt::format("rises by {} and falls back about every {}; the floor does not move",
                         amount(floors.teeth_mb), length(floors.teeth_period));
    }
    return fmt::format("{} allocated and {} freed again; {} alive at a time",
                       amount(site_.series->turnover.allocated_mb),
                       amount(site_.series->turnover.freed_mb), amount(verdict_.live_mb));
  }

  [[nodiscard]] std::string length(double clock) const {
    if (site_.clock == Clock::seconds) return format_seconds(clock);
    const int64_t count = std::max<int64_t>(1, std::llround(clock));
    return fmt::format("{} {}{}", format_count(count), clock_unit(site_.clock),
                       count == 1 ? "" : "s");
  }

  [[nodiscard]] std::string level() const {
    const double error = growth_error(*site_.series);
    if (verdict_.growth_mb > 0 && error > 0 && verdict_.growth_mb > error) {
      return fmt::format("{} is within the error of sampling (± {})", rise(verdict_.growth_mb),
                         amount(error));
    }
    return fmt::format("{} alive, with no growth that matters", amount(verdict_.live_mb));
  }

  [[nodiscard]] std::string undecided() const {
    const size_t rows = site_.series->points.size();
    if (rows < kMinSamples || explanations_.empty()) {
      return fmt::format("{} in {} {}: too few to judge", rise(verdict_.growth_mb), rows,
                         rows == 1 ? "row" : "rows");
    }
    std::string text =
        fmt::format("{} over {}: {}, or {}", rise(verdict_.growth_mb), span(),
                    explanations_.front().words, likeliest(!explanations_.front().bounded));
    if (site_.known_by > 0) text += "; known by " + when(site_.known_by);
    return text;
  }

  const SiteCase& site_;
  const SiteVerdict& verdict_;
  std::vector<Explanation> explanations_;
};

}  // namespace

std::string site_sentence(const SiteCase& site, const SiteVerdict& verdict) {
  return Sentence(site, verdict).text();
}

}  // namespace plateau
