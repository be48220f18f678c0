// SPDX-License-Identifier: Apache-2.0
#include "words/clock_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/units.h"
#include "words/phrases.h"

namespace plateau {
namespace {

constexpr size_t kFewEvents = 3;
constexpr double kNothing = 0.1;  // Of the growth: less between events is not worth a word.

std::string_view singular(GrowthClock clock) {
  constexpr std::array<std::string_view, kGrowthClocks> kNames = {"step", "pass over the data",
                                                                  "evaluation", "checkpoint"};
  return kNames[static_cast<size_t>(clock)];
}

std::string_view plural(GrowthClock clock) {
  constexpr std::array<std::string_view, kGrowthClocks> kNames = {"steps", "passes over the data",
                                                                  "evaluations", "checkpoints"};
  return kNames[static_cast<size_t>(clock)];
}

std::string in_a_row(const std::vector<std::string_view>& names) {
  std::string list;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) list += i + 1 == names.size() ? " and " : ", ";
    list += names[i];
  }
  return list;
}

// Does an event of this clock bring more than the time it takes?
bool matters(const ClockGrowth& of) {
  return of.range && of.range->low > 0 && of.share && of.share_expected &&
         *of.share - *of.share_expected > kNothing;
}

class Speaker {
 public:
  Speaker(const Verdict& verdict, const std::vector<ClockGrowth>& clocks)
      : verdict_(verdict), clocks_(clocks) {}

  [[nodiscard]] std::string say(const ClockGrowth& of) const {
    if (of.clock == GrowthClock::step) return steps(of);
    const std::string_view many = plural(of.clock);
    if (nothing_grew()) return fmt::format("nothing grew that {} could explain", many);
    if (of.follows) return followed(of);
    if (of.events == 0) return fmt::format("no {} while memory grew", singular(of.clock));
    if (of.events < kFewEvents) {
      return fmt::format(
          "only {} while memory grew: too few to tell",
          of.events == 1 ? "one " + std::string(singular(of.clock)) : "two " + std::string(many));
    }
    if (!of.mb_per_event) return fmt::format("{} come too often to separate from steps", many);
    if (matters(of)) {
      return fmt::format("each {} adds {} on top of other growth", singular(of.clock),
                         format_mb(*of.mb_per_event));
    }
    return fmt::format("{} make no difference", many);
  }

 private:
  [[nodiscard]] bool nothing_grew() const {
    return std::none_of(clocks_.begin(), clocks_.end(),
                        [](const ClockGrowth& of) { return of.share.has_value(); });
  }
  [[nodiscard]] bool any_followed() const {
    return std::any_of(clocks_.begin(), clocks_.end(),
                       [](const ClockGrowth& of) { return of.follows; });
  }
  [[nodiscard]] std::string_view grows() const { return verdict_.settled ? "grew" : "grows"; }
  [[nodiscard]] std::string until() const {
    return verdict_.settled ? " until " + moment_phrase(verdict_.clock, verdict_.settled->step)
                            : "";
  }

  [[nodiscard]] std::string followed(const ClockGrowth& of) const {
    std::string words =
        fmt::format("{} by {} at each {}{}", grows(), format_mb(of.mb_per_event.value_or(0)),
                    singular(of.clock), until());
    words += 1 - of.share.value_or(1) < kNothing
                 ? ", nothing in between"
                 : fmt::format(", and by {} in between",
                               rate_phrase(verdict_.clock, of.between_mb_per_step));
    std::vector<std::string_view> others;
    for (const ClockGrowth& other : clocks_) {
      if (other.follows && other.clock != of.clock) others.push_back(plural(other.clock));
    }
    if (!others.empty()) {
      words += fmt::format("; {} come at the same time and cannot be separated", in_a_row(others));
    }
    return words;
  }

  [[nodiscard]] std::string steps(const ClockGrowth& of) const {
    if (nothing_grew()) return "nothing grew that steps could explain";
    if (of.follows) {
      std::string words = fmt::format("{} with every step{}, by {}", grows(), until(),
                                      format_mb(of.mb_per_event.value_or(0)));
      std::vector<std::string_view> others;
      for (const ClockGrowth& other : clocks_) {
        const bool known = other.events >= kFewEvents && other.mb_per_event;
        if (other.clock != of.clock && known && !matters(other)) {
          others.push_back(plural(other.clock));
        }
      }
      if (!others.empty()) words += fmt::format("; {} make no difference", in_a_row(others));
      return words;
    }
    if (any_followed()) {
      return of.share.value_or(0) < kNothing
                 ? "steps in between add nothing"
                 : fmt::format("steps in between add {} each", format_mb(of.between_mb_per_step));
    }
    return "growth is uneven: no clock explains it";
  }

  const Verdict& verdict_;
  const std::vector<ClockGrowth>& clocks_;
};

}  // namespace

std::string clock_growth_words(const Verdict& verdict, const std::vector<ClockGrowth>& clocks,
                               size_t which) {
  return Speaker(verdict, clocks).say(clocks[which]);
}

}  // namespace plateau
