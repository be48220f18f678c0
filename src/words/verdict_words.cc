// SPDX-License-Identifier: Apache-2.0
#include "words/verdict_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/units.h"
#include "words/finding_table.h"
#include "words/phrases.h"

namespace plateau {
namespace {

// A limit that lies a million times as far ahead as was seen is no forecast.
constexpr double kNoFurther = 1e6;

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

bool warns_of(const Verdict& verdict, FindingKind kind) {
  return std::any_of(verdict.warnings.begin(), verdict.warnings.end(),
                     [kind](const Finding& of) { return of.kind == kind; });
}

// Only the time before some processes ended was judged.
bool judged_until_ended(const Verdict& verdict) {
  return warns_of(verdict, FindingKind::judged_until_ended);
}

std::string_view end_of(const Verdict& verdict) {
  return judged_until_ended(verdict) ? "when its processes ended" : "at its end";
}

// What ended with its processes and is counted all the same.
double ended_of(const Verdict& verdict) {
  double mb = 0;
  for (const EndedProcesses& ended : verdict.ended) mb += ended.mb;
  return verdict.only_survivors_judged || judged_until_ended(verdict) ? 0 : mb;
}

// The slots that several courses share.
std::vector<Slot> course_slots(const Verdict& verdict, const Course& end) {
  std::vector<Slot> slots = {
      {"moved", from_to_phrase(verdict.first_mb, end.mb), "first_mb"},
      {"span", span_phrase(verdict.clock, verdict.first_step, end.step), "steps.first"},
      {"rate", rate_phrase(verdict.clock, verdict.rate_mb_per_step), "growth.rate_mb_per_step"}};
  if (verdict.mb_per_example) {
    slots.push_back({"per_example", format_mb(*verdict.mb_per_example), "mb_per_example"});
  }
  return slots;
}

Labelled settled_course(const Verdict& verdict) {
  const Verdict::Settled& settled = *verdict.settled;
  const Course end = end_of_growth(verdict);
  std::vector<Slot> slots = course_slots(verdict, end);
  slots.push_back({"level", band_phrase(settled.mb, settled.range), "settled.low_mb"});
  const double moved = end.mb - verdict.first_mb;
  const double band = settled.range.high - settled.range.low;
  const bool level = std::fabs(moved) <= std::max(kWorthTelling * settled.mb, band);
  const double since = level ? verdict.first_step : settled.step;
  slots.push_back(
      {"length", length_phrase(verdict.clock, verdict.last_step - since), "settled.step"});
  if (level && verdict.creeps) {
    slots[0].text = from_to_phrase(verdict.first_mb, verdict.last_mb);
    return {"Moved", fill("{moved} over {length}.", slots)};
  }
  if (level) return {"Level", fill("{level} over {length}.", slots)};
  if (moved < 0) {
    return {"Fell", fill("{moved} over {span}, level since: {level} over {length}.", slots)};
  }
  return {"Grew",
          fill("{moved} over {span} ({rate}[, {per_example} per newly seen example]), level "
               "since: {level} over {length}.",
               slots)};
}

// Did memory move by more than nobody's problem?
bool moved_visibly(const Verdict& verdict) {
  return std::fabs(verdict.last_mb - verdict.first_mb) >
         kWorthTelling * std::max(verdict.first_mb, verdict.last_mb);
}

// The rate of growth that is still open. A reader divides what it came to by the time it took:
// where that lies outside of the interval, because growth slowed or quickened, both are told.
std::string open_rate(const Verdict& verdict, double grown_mb) {
  const double rate = verdict.rate_mb_per_step;
  const double average = grown_mb / std::max(verdict.last_step - verdict.first_step, 1e-9);
  const Interval& range = verdict.rate_range;
  if (!(average > 0) || (average >= range.low && average <= range.high)) {
    return rate_phrase(verdict.clock, rate);
  }
  return fmt::format("{} on average, {} {}", rate_phrase(verdict.clock, average),
                     rate_phrase(verdict.clock, rate), verdict.over ? "at its end" : "now");
}

Labelled open_course(const Verdict& verdict) {
  const Interval& range = verdict.rate_range;
  std::vector<Slot> slots = course_slots(verdict, {verdict.last_step, verdict.last_mb});
  const double ended_mb = ended_of(verdict);
  if (range.low > 0) {
    slots[2].text = open_rate(verdict, verdict.last_mb + ended_mb - verdict.first_mb);
  }
  if (ended_mb > 0) {
    slots[0].text =
        fmt::format("by {} within its processes, {} in all",
                    format_mb(verdict.last_mb + ended_mb - verdict.first_mb), slots[0].text);
  }
  slots.push_back({"range", rate_range_phrase(verdict.clock, range), "growth.rate_low"});
  if (range.high < 0) return {"Fell", fill("{moved} over {span} ({rate}).", slots)};
  if (range.low == range.high) return {"Moved", fill("{moved} over {span}.", slots)};
  if (!(range.low > 0) && verdict.word == Word::leak) {
    return {"Grew", fill("{moved} over {span} ({rate}, of uncertain size; 90 %: {range}).", slots)};
  }
  if (!(range.low > 0)) {
    return {"Moved", fill(moved_visibly(verdict)
                              ? "{moved} over {span}; whether it goes on is open (90 %: {range})."
                              : "{moved} over {span}; the rate may be zero (90 %: {range}).",
                          slots)};
  }
  const double now = verdict.current_rate_mb_per_step;
  if (!(verdict.current_rate_range.low > 0)) {
    return {"Grew", fill("{moved} over {span} ({rate}[, {per_example} per newly seen example]; "
                         "90 %: {range}).",
                         slots)};
  }
  if (std::fabs(now - verdict.rate_mb_per_step) > 0.2 * std::fabs(verdict.rate_mb_per_step)) {
    slots.push_back({"now", rate_phrase(verdict.clock, now), "current_rate_mb_per_step"});
  }
  if (verdict.over) slots.push_back({"end", std::string(end_of(verdict)), ""});
  return {"Grew", fill("{moved} over {span} ({rate}[, {per_example} per newly seen example]; 90 %: "
                       "{range}), still growing[ at {now}][ {end}].",
                       slots)};
}

// Growth without an end, told over a stretch that a reader can picture.
Sentence endless_growth(const Verdict& verdict) {
  double rate = verdict.current_rate_mb_per_step > 0 ? verdict.current_rate_mb_per_step
                                                     : verdict.rate_mb_per_step;
  for (const Finding& finding : verdict.evidence) {
    if (finding.kind == FindingKind::creeps_on) rate = finding.numbers[0].value;
  }
  const double stretch = verdict.clock == Clock::seconds ? 86400 : 1000;
  const std::string_view name = verdict.clock == Clock::seconds ? "day"
                                : verdict.clock == Clock::steps ? "1,000 steps"
                                                                : "1,000 samples";
  const std::string growth = fmt::format("{} per {}", format_mb_signed(rate * stretch), name);
  return fill("no end in sight: {growth} at the {which} rate.",
              {{"growth", growth, "current_rate_mb_per_step"},
               {"which", verdict.over ? "last" : "current", ""}});
}

// Which way an open question leans, and what holds the word back.
std::string leaning_of(const Verdict& verdict) {
  if (verdict.confidence == 0 || verdict.explanations.empty()) {
    return "the evidence does not decide yet";
  }
  double endless = 0;
  for (const Explanation& explanation : verdict.explanations) {
    if (!explanation.bounded) endless += explanation.weight;
  }
  // Few samples are believed less than the curve that fits them.
  const std::string ends = percent_phrase(std::min(1 - endless, verdict.confidence));
  if (endless < 0.5 && !(verdict.rate_range.low > 0) && !moved_visibly(verdict)) {
    return fmt::format("level so far, or growth that ends: {}", ends);
  }
  if (std::lround(100 * endless) == 50)
    return "growth that ends and growth that does not are as likely";
  if (endless < 0.5) return fmt::format("growth that ends is likelier, {}", ends);
  std::string text = fmt::format("growing without end is likelier, {}", percent_phrase(endless));
  if (verdict.held_back_until_step) {
    const std::string ended =
        fmt::format("it ended at {}, and ", moment_phrase(verdict.clock, verdict.last_step));
    text +=
        fmt::format("; {}{} until {}", verdict.over ? ended : "",
                    verdict.may_follow_load ? "it may be the load that rises" : "a cache may fill",
                    moment_phrase(verdict.clock, *verdict.held_back_until_step));
  }
  return text;
}

// ", +85 MB/min in each of 4 lives"; empty if the job had but one, or they differ.
std::string in_each_life(const Verdict& verdict) {
  for (const Finding& finding : verdict.warnings) {
    if (finding.kind != FindingKind::lives_repeat) continue;
    const double alike = finding.number("alike")->value, lives = finding.number("lives")->value;
    return fmt::format(", {} in {} {:.0f} lives",
                       rate_phrase(verdict.clock, finding.number("rate")->value),
                       alike == lives ? "each of" : fmt::format("{:.0f} of", alike), lives);
  }
  return "";
}

Sentence level_ahead(const Verdict& verdict, std::string_view pattern) {
  if (!verdict.forecast) return {};
  const Verdict::Forecast& forecast = *verdict.forecast;
  std::string when;
  if (forecast.at_step) when = moment_phrase(verdict.clock, *forecast.at_step);
  return fill(pattern, {{"level", format_mb(forecast.plateau_mb), "forecast.plateau_mb"},
                        {"range", range_phrase(forecast.range), "forecast.low_mb"},
                        {"when", when, "forecast.at_step"}});
}

}  // namespace

namespace {

// The word says that growth ends, and the risk that it ends too high, or that spikes on it do.
constexpr double kLikelyToPass = 0.5;
std::string_view but_of(const Verdict& verdict) {
  const bool fine = verdict.word == Word::plateau || verdict.word == Word::warming;
  const bool passes = verdict.risk.oom.value_or(0) > kLikelyToPass;
  return fine && passes && !verdict.over ? "but likely to pass its limit" : "";
}

std::string bare_headline_of(const Verdict& verdict) {
  if (verdict.undecided_because.kind == FindingKind::nothing_measured) {
    return "nothing was measured";
  }
  switch (verdict.word) {
    case Word::plateau:
      return verdict.creeps ? "slow growth, too little to matter" : "no leak";
    case Word::warming:
      return "no leak: growth that will end";
    case Word::leak:
      return "growth that no bounded explanation fits" + in_each_life(verdict);
    case Word::undecided:
      return leaning_of(verdict);
  }
  return "";
}

}  // namespace

std::string headline_of(const Verdict& verdict) {
  std::string text = bare_headline_of(verdict);
  const std::string_view but = but_of(verdict);
  if (!but.empty()) text += fmt::format(", {}", but);
  return text;
}

std::string answer_of(const Verdict& verdict) {
  std::string text = bare_headline_of(verdict);
  const bool said = verdict.word == Word::undecided;  // The headline has its own figure.
  if (verdict.confidence != 0 && !said) text += " · " + percent_phrase(verdict.confidence);
  const std::string_view but = but_of(verdict);
  if (!but.empty()) text += fmt::format(" · {}", but);
  return text;
}

Labelled course_of(const Verdict& verdict) {
  if (verdict.samples == 0) return {"Level", fill("not known: there are no samples.", {})};
  if (verdict.samples == 1) {
    return {"Level",
            fill("{mb} at {when}; one sample shows no trend.",
                 {{"mb", format_mb(verdict.last_mb), "last_mb"},
                  {"when", moment_phrase(verdict.clock, verdict.last_step), "steps.last"}})};
  }
  return verdict.settled ? settled_course(verdict) : open_course(verdict);
}

Sentence outlook_of(const Verdict& verdict) {
  Sentence text;
  if (verdict.creeps || verdict.word == Word::leak) {
    text = endless_growth(verdict);
  } else if (verdict.word == Word::plateau && verdict.settled) {
    const double level = verdict.settled->mb - ended_of(verdict);
    text = fill("stays near {level}.", {{"level", format_mb(level), "settled.mb"}});
  } else if (verdict.word == Word::warming) {
    text = level_ahead(verdict, "will level off near {level} (90 %: {range})[ at {when}].");
  } else if (verdict.word == Word::undecided) {
    text = level_ahead(
        verdict, "if growth ends, it will level off near {level} (90 %: {range})[ at {when}].");
  }
  if (verdict.forecast_at_total_steps_mb && verdict.total_steps && verdict.word != Word::plateau) {
    append(text,
           fill("At the planned end ({end}): about {mb}.",
                {{"end", moment_phrase(verdict.clock, *verdict.total_steps), "total_steps"},
                 {"mb", format_mb(*verdict.forecast_at_total_steps_mb), "at_total_steps_mb"}}));
  }
  return text;
}

namespace {

// Of a job on several nodes, the one whose limit is passed first, or that is fullest; each has its
// own.
Sentence risk_of_nodes(const Verdict& verdict) {
  const NodeVerdict* first = nullptr;
  const auto key = [](const NodeVerdict& node) {
    return std::pair(node.risk.at_step.value_or(HUGE_VAL), -node.last_mb / *node.risk.limit_mb);
  };
  for (const NodeVerdict& node : verdict.job->nodes) {
    if (node.risk.limit_mb && (first == nullptr || key(node) < key(*first))) first = &node;
  }
  if (first == nullptr) return {};
  std::vector<Slot> slots = {{"node", first->name, ""},
                             {"last", format_mb(first->last_mb), "job.nodes[].last_mb"},
                             {"limit", format_mb(*first->risk.limit_mb), "job.nodes[].last_mb"}};
  if (!first->risk.at_step)
    return fill("the fullest node, {node}, holds {last} of {limit}.", slots);
  slots.push_back({"when", moment_phrase(verdict.clock, *first->risk.at_step), "risk.at_step"});
  if (first->risk.at_step_range) {
    const Interval& range = *first->risk.at_step_range;
    slots.push_back({"range", span_phrase(verdict.clock, range.low, range.high), "risk.at_step"});
  }
  return fill(
      "{node} is full first: it holds {last} of {limit}, which growth that goes on passes at "
      "{when}[ (90 %: {range})].",
      slots);
}

}  // namespace

Sentence risk_of(const Verdict& verdict) {
  const Risk& risk = verdict.risk;
  if (verdict.job && verdict.job->nodes.size() > 1) return risk_of_nodes(verdict);
  if (!risk.limit_mb) {
    if (verdict.word == Word::plateau || verdict.samples < 2) return {};
    return fill("no limit known; --limit 20GB would say whether and when it is reached.", {});
  }
  std::vector<Slot> slots = {{"limit", format_mb(*risk.limit_mb), "risk.limit_mb"}};
  if (risk.oom) slots.push_back({"oom", percent_phrase(*risk.oom), "risk.oom"});
  if (risk.in_s) slots.push_back({"in", format_seconds(*risk.in_s), "limit_in_s"});
  if (risk.at_step) {
    slots.push_back({"when", moment_phrase(verdict.clock, *risk.at_step), "risk.at_step"});
  }
  if (risk.at_step_range) {
    slots.push_back({"range",
                     span_phrase(verdict.clock, risk.at_step_range->low, risk.at_step_range->high),
                     "risk.at_step"});
  }
  slots.push_back({"last", format_mb(verdict.last_mb), "last_mb"});
  if (verdict.over) slots.push_back({"end", std::string(end_of(verdict)), ""});
  // Most likely a slip of the unit: nothing is to come any more.
  if (verdict.last_mb > *risk.limit_mb) {
    return fill(verdict.over ? "it held {last} {end}, more than the limit of {limit}."
                             : "it holds {last}, already more than the limit of {limit}.",
                slots);
  }
  if (verdict.over) {
    return fill(
        "it held {last} {end}; the limit is {limit}[, which a longer run that keeps growing "
        "passes at {when}[ (90 %: {range})]].",
        slots);
  }
  if (risk.oom) {
    return fill(
        "out of memory before the end: {oom} (limit {limit})[; if it keeps growing, it "
        "passes the limit at {when}[, in {in}][ (90 %: {range})]].",
        slots);
  }
  if (!risk.at_step) return fill("it holds {last}; the limit is {limit}.", slots);
  return fill(
      "the limit is {limit}; if it keeps growing, it passes that at {when}[, in {in}][ (90 %: "
      "{range})]. When the run ends is not known.",
      slots);
}

Sentence culprit_of(const Verdict& verdict) {
  if (!verdict.process || verdict.processes.size() < 2) return {};
  const ProcessGrowth& process = *verdict.process;
  if (!(process.growth_mb > 0)) return {};
  std::string since;
  if (process.since_step) since = moment_phrase(verdict.clock, *process.since_step);
  return fill(
      "{process} grew {growth}[ since {since}]: {share} of the growth of {count} processes.",
      {{"process", process_phrase(process), "process.pid"},
       {"growth", format_mb_signed(process.growth_mb), "processes[].growth_mb"},
       {"since", since, ""},
       {"share", percent_phrase(process.share), "processes[].share"},
       {"count", std::to_string(verdict.processes.size()), "processes[].growth_mb"}});
}

Sentence peaks_of(const Verdict& verdict) {
  Sentence text;
  const Verdict::Spikes& spikes = verdict.spikes;
  if (spikes.count > 0) {
    std::string period;
    if (spikes.period_steps) period = length_phrase(verdict.clock, *spikes.period_steps);
    text = fill(
        "{spikes} spike{spikes:|s} of about {height} over the floor[, at {events}][, every "
        "{period}], highest {max}; the floor is judged.",
        {{"spikes", std::to_string(spikes.count), "spikes.count"},
         {"height", format_mb(spikes.height_mb), "spikes.height_mb"},
         {"events", std::string(spikes.at_events), ""},
         {"period", period, "spikes.count"},
         {"max", format_mb(spikes.max_mb), "highest_mb"}});
  }
  if (verdict.sawtooth) {
    const bool maybe_restarts = warns_of(verdict, FindingKind::falls_like_restarts);
    append(text, fill(maybe_restarts
                          ? "Sawtooth of {height} every {period}: given back, or started anew."
                          : "Sawtooth of {height} every {period}: taken and given back, not kept.",
                      {{"height", format_mb(verdict.sawtooth->height_mb), "sawtooth.height_mb"},
                       {"period", length_phrase(verdict.clock, verdict.sawtooth->period_steps),
                        "sawtooth.period_steps"}}));
  }
  return text;
}

std::string destination_of(const Verdict& verdict, const Explanation& explanation) {
  if (explanation.bounded) {
    if (!explanation.plateau_mb) return "ends, level not known yet";
    std::string text = "level near " + format_mb(*explanation.plateau_mb);
    if (explanation.ends_at_step) {
      text += " from " + moment_phrase(verdict.clock, *explanation.ends_at_step);
    }
    return text;
  }
  const double rate = explanation.rate_mb_per_step;
  const double limit = verdict.risk.limit_mb.value_or(0);
  if (rate > 0 && limit > verdict.last_mb) {
    const double ahead = (limit - verdict.last_mb) / rate;
    if (ahead > kNoFurther * std::max(verdict.last_step - verdict.first_step, 1.0)) {
      return "does not end, at a rate too small to tell from none";
    }
    const double at = verdict.last_step + ahead;
    return fmt::format("{} the limit of {} at {}", verdict.over ? "would pass" : "passes",
                       format_mb(limit), moment_phrase(verdict.clock, at));
  }
  if (rate > 0 && limit > 0) return fmt::format("is past the limit of {}", format_mb(limit));
  if (rate <= 0) return "does not end, at a rate too small to tell from none";
  return "does not end: " + rate_phrase(verdict.clock, rate);
}

}  // namespace plateau
