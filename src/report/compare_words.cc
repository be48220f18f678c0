// SPDX-License-Identifier: Apache-2.0
// The sentence on top of a comparison. Only what is significant is said.
#include <fmt/format.h>

#include <cmath>

#include "base/units.h"
#include "report/compare.h"
#include "words/finding_table.h"
#include "words/phrases.h"

namespace plateau {
namespace {

// "half the rate" is a rate within a tenth of it.
constexpr double kAboutHalf = 0.05;

class ChangeSentence {
 public:
  ChangeSentence(const Comparison& comparison, const Change& change)
      : comparison_(comparison),
        change_(change),
        before_(comparison.sides.front()),
        after_(comparison.sides[change.side]) {}

  [[nodiscard]] std::string text() const {
    std::string out = growth();
    const auto add = [&out](const std::string& part) {
      if (!part.empty()) out += "; " + part;
    };
    const bool levels_apart = change_.growth == GrowthChange::none ||
                              change_.growth == GrowthChange::undecided ||
                              change_.growth == GrowthChange::too_short;
    if (levels_apart) add(level());
    add(sizes(FigureKind::peak, "peak"));
    add(spikes());
    add(steps());
    return out;
  }

 private:
  [[nodiscard]] const std::optional<Difference>& difference(FigureKind kind) const {
    return change_.differences[static_cast<size_t>(kind)];
  }
  [[nodiscard]] bool significant(FigureKind kind) const {
    return difference(kind) && difference(kind)->significant;
  }
  [[nodiscard]] double before(FigureKind kind) const {
    return change_.before[static_cast<size_t>(kind)].value_or(Figure{}).value;
  }
  [[nodiscard]] double after(FigureKind kind) const {
    return change_.after[static_cast<size_t>(kind)].value_or(Figure{}).value;
  }
  [[nodiscard]] std::string rate(double mb) const {
    return mb == 0 ? "0" : rate_phrase(change_.clock, mb);
  }

  // With one other side the reader asks about a fix; with more, each sentence follows its name.
  [[nodiscard]] std::string subject() const {
    return comparison_.sides.size() == 2 ? "the fix" : "it";
  }

  [[nodiscard]] std::string growth() const {
    const std::string& a = before_.name;
    const std::string& b = after_.name;
    const std::string rates =
        fmt::format("{} → {}", rate(before(FigureKind::rate)), rate(after(FigureKind::rate)));
    const std::string rises = fmt::format("{} → {}", format_mb_signed(before(FigureKind::growth)),
                                          format_mb_signed(after(FigureKind::growth)));
    switch (change_.growth) {
      case GrowthChange::none:
        return "no significant difference in growth";
      case GrowthChange::removed:
        return fmt::format("{} removed the growth ({})", subject(),
                           before_.word == Word::leak ? rates : rises);
      case GrowthChange::ends_now:
        return fmt::format("{} leaks ({}), the growth of {} has an end{}", a,
                           rate(before(FigureKind::rate)), b, forecast());
      case GrowthChange::reduced:
        return fmt::format("{} grows less ({})", b, rises);
      case GrowthChange::slower:
        return fmt::format("{} still leaks, at {} the rate ({})", b, share(), rates);
      case GrowthChange::same_leak:
        return fmt::format("{} still leaks: no significant difference in growth ({})", b, rates);
      case GrowthChange::faster:
        return fmt::format("{} leaks faster ({})", b, rates);
      case GrowthChange::increased:
        return fmt::format("{} grows more ({})", b, rises);
      case GrowthChange::appeared:
        return fmt::format("{} leaks ({}), {} does not", b, rate(after(FigureKind::rate)), a);
      case GrowthChange::too_short:
        return too_short();
      case GrowthChange::undecided:
        return undecided();
    }
    return "";
  }

  [[nodiscard]] std::string forecast() const {
    const auto& forecast = after_.verdicts.front().forecast;
    return forecast ? fmt::format(" near {}", format_mb(forecast->plateau_mb)) : "";
  }

  [[nodiscard]] std::string share() const {
    const double ratio = difference(FigureKind::rate)->ratio.value_or(0);
    if (std::fabs(ratio - 0.5) <= kAboutHalf) return "half";
    return fmt::format("{} of", percent_phrase(ratio));
  }

  [[nodiscard]] std::string too_short() const {
    const bool first = before_.word == Word::leak;
    const ComparedSide& leaks = first ? before_ : after_;
    const ComparedSide& ends = first ? after_ : before_;
    std::string out = fmt::format("too short to tell: {} ends at {}, the growth of {} shows ",
                                  ends.name, moment_phrase(change_.clock, change_.to), leaks.name);
    if (!change_.shows_at) return out + "later";
    return out + fmt::format("from {} on",
                             moment_phrase(leaks.verdicts.front().clock, *change_.shows_at));
  }

  [[nodiscard]] std::string undecided() const {
    if (!(change_.to > change_.from)) return "not comparable: no span in common";
    std::string out;
    for (const ComparedSide* side : {&before_, &after_}) {
      if (side->word != Word::undecided) continue;
      out += fmt::format("{}{} is undecided", out.empty() ? "" : ", ", side->name);
      for (const Verdict& verdict : side->verdicts) {
        if (!verdict.decides_at_step) continue;
        out +=
            fmt::format(" (not before {})", moment_phrase(verdict.clock, *verdict.decides_at_step));
        break;
      }
    }
    if (!out.empty()) return "growth cannot be compared: " + out;
    const ComparedSide& some = before_.leaks > 0 ? before_ : after_;
    const ComparedSide& none = before_.leaks > 0 ? after_ : before_;
    return fmt::format("{} leaks in only {} of {} runs, {} in none of {}: too few to tell",
                       some.name, some.leaks, some.verdicts.size(), none.name,
                       none.verdicts.size());
  }

  [[nodiscard]] std::string level() const {
    const std::string plateau = sizes(FigureKind::plateau, "plateau");
    return plateau.empty() ? sizes(FigureKind::floor, "floor") : plateau;
  }

  [[nodiscard]] std::string sizes(FigureKind kind, std::string_view name) const {
    if (!significant(kind)) return "";
    return fmt::format("{} {}", name, from_to_phrase(before(kind), after(kind)));
  }

  [[nodiscard]] std::string spikes() const {
    if (significant(FigureKind::spike_count)) {
      return fmt::format("spikes {:.0f} → {:.0f}", before(FigureKind::spike_count),
                         after(FigureKind::spike_count));
    }
    return sizes(FigureKind::spike_height, "height of spikes");
  }

  [[nodiscard]] std::string steps() const {
    if (!significant(FigureKind::step_time)) return "";
    const Difference& steps = *difference(FigureKind::step_time);
    const bool slower = *steps.ratio > 1;
    const auto percent = [](double ratio) { return 100 * std::fabs(ratio - 1); };
    const double near = percent(slower ? steps.ratio_range->low : steps.ratio_range->high);
    const double far = percent(slower ? steps.ratio_range->high : steps.ratio_range->low);
    const auto digits = [](double value) {
      return value < 10 ? fmt::format("{:.2g}", value) : fmt::format("{:.0f}", value);
    };
    return fmt::format("steps are {} % {} ({}–{} %)", digits(percent(*steps.ratio)),
                       slower ? "slower" : "faster", digits(near), digits(far));
  }

  const Comparison& comparison_;
  const Change& change_;
  const ComparedSide& before_;
  const ComparedSide& after_;
};

}  // namespace

std::string_view outcome_name(Outcome outcome) {
  if (outcome == Outcome::undecided) return "undecided";
  return outcome == Outcome::worse ? "worse" : "no_worse";
}

std::string figure_unit(FigureKind kind, Clock clock) {
  switch (kind) {
    case FigureKind::rate:
      return "MB/" + std::string(clock_unit(clock));
    case FigureKind::spike_count:
      return "";
    case FigureKind::step_time:
      return "s";
    default:
      return "MB";
  }
}

std::string change_sentence(const Comparison& comparison, const Change& change) {
  return ChangeSentence(comparison, change).text();
}

std::vector<std::string> warnings_of(const Change& change) {
  std::vector<std::string> sentences;
  sentences.reserve(change.warnings.size());
  for (const Finding& warning : change.warnings) {
    sentences.push_back(plain(tell(warning, Telling{.clock = change.clock})));
  }
  return sentences;
}

}  // namespace plateau
