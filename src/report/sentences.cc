// SPDX-License-Identifier: Apache-2.0
#include "report/sentences.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "base/units.h"
#include "report/phrases.h"

namespace plateau {
namespace {

// Growth below this share of the level is told as "level": nobody's problem is two per cent.
constexpr double kWorthTelling = 0.02;

struct Course {
  double step = 0;
  double mb = 0;
};

// Where growth ended in a settled run: the last rising phase before the level, or the level itself.
Course end_of_growth(const Verdict& verdict) {
  Course end = {verdict.settled->step, verdict.settled->mb};
  for (const Phase& phase : verdict.phases) {
    const bool before_level = phase.to_step <= verdict.settled->step * (1 + 1e-9);
    if (before_level && phase.to_mb > phase.from_mb) end = {phase.to_step, phase.to_mb};
  }
  return end;
}

std::string growth_rates(const Verdict& verdict) {
  std::string rates = rate_phrase(verdict.clock, verdict.rate_mb_per_step);
  if (verdict.mb_per_example) {
    rates += fmt::format(", {} per example seen first", format_mb(*verdict.mb_per_example));
  }
  return rates;
}

Labelled settled_course(const Verdict& verdict) {
  const Verdict::Settled& settled = *verdict.settled;
  const std::string level = band_phrase(settled.mb, settled.range);
  const Course end = end_of_growth(verdict);
  const double moved = end.mb - verdict.first_mb;
  const double band = settled.range.high - settled.range.low;
  if (std::fabs(moved) <= std::max(kWorthTelling * settled.mb, band)) {
    return {"Level",
            fmt::format("{} over {}.", level,
                        length_phrase(verdict.clock, verdict.last_step - verdict.first_step))};
  }
  const std::string since =
      fmt::format("level since: {} over {}", level,
                  length_phrase(verdict.clock, verdict.last_step - settled.step));
  const std::string span = span_phrase(verdict.clock, verdict.first_step, end.step);
  if (moved < 0) {
    return {"Fell",
            fmt::format("{} over {}, {}.", from_to_phrase(verdict.first_mb, end.mb), span, since)};
  }
  return {"Grew", fmt::format("{} over {} ({}), {}.", from_to_phrase(verdict.first_mb, end.mb),
                              span, growth_rates(verdict), since)};
}

Labelled open_course(const Verdict& verdict) {
  const std::string moved =
      fmt::format("{} over {}", from_to_phrase(verdict.first_mb, verdict.last_mb),
                  span_phrase(verdict.clock, verdict.first_step, verdict.last_step));
  const Interval& range = verdict.rate_range;
  if (range.high < 0) {
    return {"Fell",
            fmt::format("{} ({}).", moved, rate_phrase(verdict.clock, verdict.rate_mb_per_step))};
  }
  if (range.low == range.high) return {"Moved", moved + "."};
  if (!(range.low > 0)) {
    return {"Moved", fmt::format("{}; the rate cannot be told from zero (90 %: {}).", moved,
                                 rate_range_phrase(verdict.clock, range))};
  }
  std::string text = fmt::format("{} ({}; 90 %: {})", moved, growth_rates(verdict),
                                 rate_range_phrase(verdict.clock, range));
  const double now = verdict.current_rate_mb_per_step;
  if (verdict.current_rate_range.low > 0) {
    const bool changed =
        std::fabs(now - verdict.rate_mb_per_step) > 0.2 * std::fabs(verdict.rate_mb_per_step);
    text += changed ? ", still growing at " + rate_phrase(verdict.clock, now) : ", still growing";
  }
  return {"Grew", text + "."};
}

// Growth without an end, told over a stretch that a reader can picture.
std::string endless_growth(const Verdict& verdict) {
  const double rate = verdict.current_rate_mb_per_step > 0 ? verdict.current_rate_mb_per_step
                                                           : verdict.rate_mb_per_step;
  const double stretch = verdict.clock == Clock::seconds ? 86400 : 1000;
  const std::string_view name = verdict.clock == Clock::seconds ? "day"
                                : verdict.clock == Clock::steps ? "1,000 steps"
                                                                : "1,000 samples";
  return fmt::format("no end in sight: {} per {} at the present rate.",
                     format_mb_signed(rate * stretch), name);
}

std::string level_ahead(const Verdict& verdict) {
  if (!verdict.forecast) return "";
  const Verdict::Forecast& forecast = *verdict.forecast;
  std::string text = fmt::format("will level near {} (90 %: {})", format_mb(forecast.plateau_mb),
                                 range_phrase(forecast.range));
  if (forecast.at_step) text += " at " + moment_phrase(verdict.clock, *forecast.at_step);
  return text + ".";
}

// Words of at least four letters and numbers, in lower case.
std::set<std::string> telling_words(std::string_view text) {
  std::set<std::string> words;
  std::string word;
  const auto close = [&] {
    const bool number = !word.empty() && word[0] >= '0' && word[0] <= '9';
    if (number || word.size() >= 4) words.insert(word);
    word.clear();
  };
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == ',') {
      word.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
      continue;
    }
    while (word.ends_with('.') || word.ends_with(',')) word.pop_back();
    close();
  }
  while (word.ends_with('.') || word.ends_with(',')) word.pop_back();
  close();
  return words;
}

}  // namespace

bool already_said(std::string_view text, const std::vector<std::string>& others) {
  // Two thirds: a retelling changes the small words, another fact changes the telling ones.
  constexpr double kRetold = 2.0 / 3;
  const std::set<std::string> words = telling_words(text);
  std::set<std::string> said;
  for (const std::string& other : others) said.merge(telling_words(other));
  const auto known = std::count_if(words.begin(), words.end(),
                                   [&](const std::string& word) { return said.contains(word); });
  return !words.empty() &&
         static_cast<double>(known) >= kRetold * static_cast<double>(words.size());
}

std::string as_sentence(std::string text) {
  if (text.empty()) return text;
  if (text.front() >= 'a' && text.front() <= 'z')
    text.front() = static_cast<char>(text.front() - 32);
  if (std::string_view(".!?").find(text.back()) == std::string_view::npos) text.push_back('.');
  return text;
}

Labelled course_of(const Verdict& verdict) {
  if (verdict.samples == 0) return {"Level", "not known: there are no samples."};
  if (verdict.samples == 1) {
    return {"Level",
            fmt::format("{} at {}; one sample has no direction.", format_mb(verdict.last_mb),
                        moment_phrase(verdict.clock, verdict.last_step))};
  }
  return verdict.settled ? settled_course(verdict) : open_course(verdict);
}

std::string outlook_of(const Verdict& verdict) {
  std::string text;
  if (verdict.word == Word::plateau && verdict.settled) {
    text = fmt::format("stays near {}.", format_mb(verdict.settled->mb));
  } else if (verdict.word == Word::leak) {
    text = endless_growth(verdict);
  } else if (verdict.word == Word::warming) {
    text = level_ahead(verdict);
  } else if (verdict.word == Word::undecided && verdict.forecast) {
    text = "if growth ends, it " + level_ahead(verdict);
  }
  if (verdict.forecast_at_total_steps_mb && verdict.total_steps && verdict.word != Word::plateau) {
    text += fmt::format("{}At the planned end ({}): about {}.", text.empty() ? "" : " ",
                        moment_phrase(verdict.clock, *verdict.total_steps),
                        format_mb(*verdict.forecast_at_total_steps_mb));
  }
  return text;
}

std::string risk_of(const Verdict& verdict) {
  const Risk& risk = verdict.risk;
  if (!risk.limit_mb) {
    if (verdict.word == Word::plateau || verdict.samples < 2) return "";
    return "no limit known; --limit 20GB tells whether and when it is reached.";
  }
  std::string text = fmt::format("out of memory before the end: {} (limit {})",
                                 percent_phrase(risk.oom), format_mb(*risk.limit_mb));
  if (risk.at_step) {
    text += fmt::format("; if it grows on, the limit is passed at {}",
                        moment_phrase(verdict.clock, *risk.at_step));
    if (risk.at_step_range) {
      text += fmt::format(" (90 %: {})", span_phrase(verdict.clock, risk.at_step_range->low,
                                                     risk.at_step_range->high));
    }
  }
  return text + ".";
}

std::string culprit_of(const Verdict& verdict) {
  if (!verdict.process || verdict.processes.size() < 2) return "";
  const ProcessGrowth& process = *verdict.process;
  if (!(process.growth_mb > 0)) return "";
  return fmt::format("{} grew {}: {} of the growth of {} processes.", process_phrase(process),
                     format_mb_signed(process.growth_mb), percent_phrase(process.share),
                     verdict.processes.size());
}

std::string peaks_of(const Verdict& verdict) {
  std::string text;
  const Verdict::Spikes& spikes = verdict.spikes;
  if (spikes.count > 0) {
    // The clock is a phrase ("every 50 steps", "at evaluations") or a bare noun.
    const bool phrase = spikes.clock.find(' ') != std::string::npos;
    const std::string when = spikes.clock.empty() ? "" : (phrase ? ", " : ", with ") + spikes.clock;
    text = fmt::format("{} spike{} of about {} over the floor{}, highest {}; the floor is judged.",
                       spikes.count, spikes.count == 1 ? "" : "s", format_mb(spikes.height_mb),
                       when, format_mb(spikes.max_mb));
  }
  if (verdict.sawtooth) {
    text += fmt::format("{}Sawtooth of {} every {}: taken and given back, not kept.",
                        text.empty() ? "" : " ", format_mb(verdict.sawtooth->height_mb),
                        length_phrase(verdict.clock, verdict.sawtooth->period_steps));
  }
  return text;
}

std::string cause_sentence(const Cause& cause) {
  const std::string& title = cause.title.empty() ? cause.name : cause.title;
  std::string text = fmt::format("{}, {}", title, percent_phrase(cause.weight));
  if (!cause.evidence.empty()) text += ": " + cause.evidence;
  return text;
}

std::string destination_of(const Verdict& verdict, const Explanation& explanation) {
  if (explanation.bounded) {
    if (!explanation.plateau_mb) return "ends, height not known yet";
    std::string text = "level near " + format_mb(*explanation.plateau_mb);
    if (explanation.ends_at_step) {
      text += " from " + moment_phrase(verdict.clock, *explanation.ends_at_step);
    }
    return text;
  }
  const double rate = explanation.rate_mb_per_step;
  const double limit = verdict.risk.limit_mb.value_or(0);
  if (rate > 0 && limit > verdict.last_mb) {
    const double at = verdict.last_step + (limit - verdict.last_mb) / rate;
    return fmt::format("passes the limit of {} at {}", format_mb(limit),
                       moment_phrase(verdict.clock, at));
  }
  if (rate > 0 && limit > 0) return fmt::format("is past the limit of {}", format_mb(limit));
  return "does not end: " + rate_phrase(verdict.clock, rate);
}

}  // namespace plateau
