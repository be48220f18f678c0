// SPDX-License-Identifier: Apache-2.0
// The contents page of this room: signals -> timeline -> decisions -> outlook -> causes -> words.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/statistics.h"
#include "verdict/case_file.h"
#include "verdict/causes.h"
#include "verdict/decision.h"
#include "verdict/evidence.h"
#include "verdict/explanations.h"
#include "verdict/judge_parts.h"
#include "verdict/onset.h"
#include "verdict/outlook.h"
#include "verdict/plot_points.h"
#include "verdict/processes.h"
#include "verdict/promise.h"
#include "verdict/said.h"
#include "verdict/signal.h"
#include "verdict/verdict.h"

namespace plateau {
namespace {

// No model knows more than this; the rest is for what no model knows.
constexpr double kMostConfident = 0.999;

// Looks in a replay. A million-sample log would take hours otherwise, and show no more.
constexpr size_t kMostLooks = 2000;

constexpr std::array<int, 4> kBadness = {0, 1, 3, 2};  // plateau, warming, leak, undecided

int badness(Word word) {
  return kBadness[static_cast<size_t>(word)];
}

bool rises(const Decision& decision) {
  return !decision.floors.mb.empty() &&
         decision.floors.level_mb - decision.floors.mb.front() > decision.tolerated_mb;
}

// Processes that leaked until they ended leave a level behind them. That says nothing about the
// growth, for as long as what goes on has been seen for less time than they were: the verdict is
// that of the time before the first of them ended.
bool consider_the_ended(const Component& component, double reference, const Policy& policy,
                        CaseFile& file) {
  Decision& all = file.decisions.back();
  if (all.word != Word::plateau && all.word != Word::warming) return false;
  const std::vector<TimedValue>& held = component.held;
  for (const EndedPart& part : file.signals->lives.ended) {
    if (part.mb < all.material_mb) continue;
    const double end = file.signals->clock_of_instant[part.instant];
    if (held.back().at - end > end - held.front().at) return false;
    const auto before = std::find_if(held.begin(), held.end(),
                                     [end](const TimedValue& point) { return point.at >= end; });
    std::vector<TimedValue> until(held.begin(), before);
    if (until.size() < kMinSamples) return false;
    Decision then = decide(until, file.timeline, policy, reference);
    if (then.word != Word::leak) return false;
    all = std::move(then);
    file.until_ended = std::move(until);
    return true;
  }
  return false;
}

// Some processes ended: the verdict is that of all, with what ended as if it were still held, or
// that of those that go on, if it is worse. If both grow alike it is that of those that go on too:
// the rate at which a job grows now, and what lies ahead, is that of the processes it still has.
void consider_survivors(const Component& component, double reference, const Policy& policy,
                        CaseFile& file) {
  Decision& all = file.decisions.back();
  Decision surviving = decide(component.surviving, file.timeline, policy, reference);
  const bool alike = surviving.word == all.word && all.word != Word::plateau;
  if (alike || badness(surviving.word) > badness(all.word)) {
    all = std::move(surviving);
    file.of_survivors = true;
    return;
  }
  if (consider_the_ended(component, reference, policy, file)) return;
  // What lies ahead begins with what is there now.
  shift_level(component.points.back().mb - component.held.back().mb, all.posterior);
}

// Judges every component against the level of the primary one, and picks the worst of those that
// may decide.
void decide_components(CaseFile& file, const Policy& policy) {
  const std::vector<Component>& components = file.signals->components;
  double reference = 0;
  for (const Component& component : components) {
    file.decisions.push_back(decide(component.judged(), file.timeline, policy, reference));
    if (component.primary) reference = file.decisions.back().floors.level_mb;
    if (!component.surviving.empty()) consider_survivors(component, reference, policy, file);
  }
  for (size_t i = 1; i < components.size(); ++i) {
    if (!components[i].decides || !rises(file.decisions[i])) continue;
    if (badness(file.decisions[i].word) > badness(file.decision().word)) file.headline = i;
  }
}

void fill_components(const CaseFile& file, Verdict& verdict) {
  for (size_t i = 0; i < file.decisions.size(); ++i) {
    const Component& component = file.signals->components[i];
    const Decision& decision = file.decisions[i];
    const bool survivors = file.of_survivors && component.primary;
    const bool cut = !file.until_ended.empty() && component.primary;
    const std::vector<TimedValue>& points = cut         ? file.until_ended
                                            : survivors ? component.surviving
                                                        : component.points;
    // What goes on is told by what goes on: the same rate as in the answer.
    const bool endless = decision.word == Word::leak || creeps_visibly(decision);
    verdict.components.push_back({.name = component.name,
                                  .measure = component.measure,
                                  .word = decision.word,
                                  .confidence = std::min(decision.confidence, kMostConfident),
                                  .first_mb = points.front().mb,
                                  .last_mb = points.back().mb,
                                  .rate_mb_per_step = pooled_rate(decision.posterior, endless).mean,
                                  .reclaimable = component.reclaimable});
  }
}

void fill_growth(const CaseFile& file, Verdict& verdict) {
  const Decision& decision = file.decision();
  verdict.settled = find_settled(decision, file.timeline);
  const double ended_mb = file.ended_mb();
  const PooledRate now = pooled_rate(decision.posterior, verdict.word == Word::leak);
  verdict.current_rate_mb_per_step = verdict.word == Word::plateau ? 0 : now.mean;
  verdict.current_rate_range = now.range;
  verdict.rate_mb_per_step = now.mean;
  verdict.rate_range = now.range;
  double until = verdict.last_step;
  if (verdict.settled) {
    until = verdict.settled->step;
    const bool higher = verdict.settled->mb - verdict.first_mb > decision.tolerated_mb;
    const Slope climb = higher ? climb_until(decision.floors, verdict.first_step, until) : Slope{};
    // What was there from the first floor on (helpers that come and go) never rose.
    if (climb.rate > 0) {
      verdict.rate_mb_per_step = climb.rate;
      verdict.rate_range = climb.range;
      verdict.phases.push_back(
          {verdict.first_step, until, verdict.first_mb, verdict.settled->mb, climb.rate});
    }
    verdict.phases.push_back(
        {until, verdict.last_step, verdict.settled->mb, verdict.last_mb + ended_mb, 0});
  } else if (!decision.floors.at.empty()) {
    verdict.phases.push_back({verdict.first_step, verdict.last_step, verdict.first_mb,
                              verdict.last_mb + ended_mb, verdict.rate_mb_per_step});
  }
  const std::optional<Fact>& batch = file.run->context.batch;
  // A leak goes on when every example has been seen: it is kept for each step.
  const bool per_example = verdict.word != Word::leak && file.timeline.epoch_steps > 0;
  if (verdict.clock == Clock::steps && batch && batch->value > 0 && per_example) {
    verdict.mb_per_example = verdict.rate_mb_per_step / batch->value;
    if (follows_new_examples(file)) verdict.mb_per_example = file.mb_per_new_example();
  }
}

// The window in which growth is attributed: until it settled, else the last two thirds, because the
// first third of a leaking run is often its warm-up.
void fill_processes(const CaseFile& file, Verdict& verdict) {
  double from = verdict.first_step;
  double to = verdict.last_step;
  if (verdict.settled && verdict.settled->step > from) {
    to = verdict.settled->step;
  } else if (verdict.word == Word::leak) {
    from += (to - from) / 3;
  }
  verdict.processes = growth_by_process(file, from, to);
  if (verdict.processes.empty()) return;
  if (from > verdict.first_step) {
    for (ProcessGrowth& growth : verdict.processes) growth.since_step = from;
  }
  const ProcessGrowth& first = verdict.processes.front();
  const bool named = !first.name.empty() || first.id_is_pid;
  // A quarter of the growth is enough to be named; less is "spread over many".
  const bool stands_out = verdict.processes.size() > 1 && first.share >= 0.25;
  if (stands_out || (verdict.processes.size() == 1 && named)) verdict.process = first;
}

// How the spikes are timed: by evaluations, checkpoints, evenly, or not at all.
void time_spikes(const CaseFile& file, const Floors& floors, Verdict::Spikes& spikes) {
  const double near = 1.5 * sample_interval(floors);
  const auto matched = [&](const std::vector<double>& events) {
    size_t hits = 0;
    for (const Spike& spike : floors.spikes) {
      hits += std::any_of(events.begin(), events.end(), [&](double at) {
        return at >= spike.from - near && at <= spike.to + near;
      });
    }
    return 10 * hits >= 7 * floors.spikes.size();
  };
  if (matched(file.timeline.evaluations)) {
    spikes.at_events = "evaluations";
  } else if (matched(file.timeline.checkpoints)) {
    spikes.at_events = "checkpoints";
  }
  if (!spikes.at_events.empty() || floors.spikes.size() < 3) return;
  std::vector<double> gaps;
  for (size_t i = 1; i < floors.spikes.size(); ++i) {
    gaps.push_back(floors.spikes[i].from - floors.spikes[i - 1].from);
  }
  const auto [low, high] = std::minmax_element(gaps.begin(), gaps.end());
  if (*high <= 1.3 * *low) spikes.period_steps = (*low + *high) / 2;
}

// What ended, and which life was judged. Owned memory only: other pages may outlive a process.
void fill_lives(const CaseFile& file, Verdict& verdict) {
  const Lives& lives = file.signals->lives;
  const std::vector<double>& clock = file.signals->clock_of_instant;
  for (const EndedPart& part : lives.ended) {
    if (file.headline > 0 || part.mb < file.decision().material_mb) continue;
    verdict.ended.push_back({clock[part.instant], part.processes.size(), part.mb});
  }
  verdict.only_survivors_judged = file.of_survivors;
  if (lives.lives.size() < 2) return;
  for (const Life& life : lives.lives) {
    double first_mb = kMissing, last_mb = kMissing;
    for (size_t i = life.from; i < life.to; ++i) {
      if (!std::isfinite(lives.held[i])) continue;
      if (!std::isfinite(first_mb)) first_mb = lives.held[i];
      last_mb = lives.held[i];
    }
    if (!std::isfinite(first_mb)) continue;
    verdict.lives.push_back({clock[life.from], clock[life.to - 1], first_mb, last_mb,
                             &life == &lives.lives[lives.judged]});
  }
}

void fill_excursions(const CaseFile& file, Verdict& verdict) {
  const Floors& floors = file.decision().floors;
  std::vector<double> heights;
  for (const Spike& spike : floors.spikes) {
    heights.push_back(spike.height_mb);
    verdict.spikes.max_mb = std::max(verdict.spikes.max_mb, spike.peak_mb);
  }
  verdict.spikes.count = heights.size();
  if (!heights.empty()) {
    verdict.spikes.height_mb = upper_median(heights);
    time_spikes(file, floors, verdict.spikes);
  }
  if (floors.teeth_mb > file.decision().tolerated_mb)
    verdict.sawtooth = Verdict::Sawtooth{floors.teeth_period, floors.teeth_mb};
}

// Of the clock; 0 if the run has no times.
double seconds_per_step(const CaseFile& file) {
  const std::vector<Instant>& instants = file.run->instants;
  const std::vector<double>& clock = file.signals->clock_of_instant;
  if (!file.run->has_times() || instants.size() < 2 || !(clock.back() > clock.front())) return 0;
  return (instants.back().time_s - instants.front().time_s) / (clock.back() - clock.front());
}

void fill_outlook(const CaseFile& file, Verdict& verdict) {
  const Decision& decision = file.decision();
  std::optional<double> limit = file.component().limit_mb;
  if (!limit && file.run->context.limit_mb) limit = file.run->context.limit_mb->value;
  verdict.risk = assess_risk(decision, file.timeline, limit);
  // Where growth would end is worth saying when an end is in sight: it is level, it slows down, or
  // the first pass over the data has not ended yet.
  const bool end_in_sight = verdict.word == Word::plateau || verdict.word == Word::warming ||
                            file.timeline.epoch_steps > verdict.last_step;
  if (end_in_sight) verdict.forecast = forecast_plateau(decision, file.timeline);
  verdict.forecast_at_total_steps_mb = floor_at_planned_end(decision, file.timeline);
  const double pace_s = seconds_per_step(file);
  if (verdict.risk.at_step && pace_s > 0) {
    verdict.risk.in_s = std::max(0.0, *verdict.risk.at_step - verdict.last_step) * pace_s;
  }
  verdict.creeps = creeps_visibly(decision);
  verdict.over = is_over(*file.run);
  const Lives& lives = file.signals->lives;
  const bool life_over = lives.lives.size() > 1 && lives.judged + 1 < lives.lives.size();
  if (!verdict.over && !life_over) {
    verdict.decides_at_step = decides_at(decision, file.timeline);
    verdict.known_by_step = known_by(decision, file.timeline);
  }
  const double held_back_until = std::max(file.timeline.deadline, file.timeline.one_climb_until);
  const bool early = decision.enough && decision.floors.now < held_back_until;
  if (verdict.word == Word::undecided && early && decision.leak > 0.5) {
    verdict.held_back_until_step = held_back_until;
    verdict.may_follow_load = file.timeline.one_climb_until > 0;
  }
  if (file.timeline.epoch_steps > 0) verdict.epoch_steps = file.timeline.epoch_steps;
  if (file.timeline.total_steps > 0) verdict.total_steps = file.timeline.total_steps;
}

// Lets the named component decide, if there is one of that name.
void let_decide(std::string_view component, CaseFile& file) {
  const std::vector<Component>& components = file.signals->components;
  const auto found =
      std::find_if(components.begin(), components.end(),
                   [component](const Component& of) { return of.name == component; });
  if (found != components.end()) {
    file.headline = static_cast<size_t>(found - components.begin());
  }
}

Verdict nothing_measured(const Run& run) {
  Verdict verdict;
  verdict.file = run.source;
  verdict.title = run.title;
  verdict.undecided_because = {FindingKind::nothing_measured, {}, {}};
  return verdict;
}

}  // namespace

std::string_view word_name(Word word) {
  constexpr std::array<std::string_view, 4> kNames = {"plateau", "warming", "leak", "undecided"};
  return kNames[static_cast<size_t>(word)];
}

std::string_view reach_name(JobVerdict::Reach reach) {
  constexpr std::array<std::string_view, 5> kNames = {"none", "one rank", "one node", "some",
                                                      "all"};
  return kNames[static_cast<size_t>(reach)];
}

std::string_view clock_unit(Clock clock) {
  constexpr std::array<std::string_view, 3> kNames = {"step", "second", "sample"};
  return kNames[static_cast<size_t>(clock)];
}

Verdict judge(const Run& run, const Policy& policy) {
  return judge_component(run, "", policy);
}

Signals telling_signals(const TreeColumns& columns, const Run& prefix, const Policy& policy) {
  Signals signals = columns.signals(prefix);
  const Lives& lives = signals.lives;
  if (lives.lives.size() < 2 || signals.components.empty()) return signals;
  if (decide_case(prefix, signals, policy).decision().word != Word::undecided) return signals;
  for (size_t i = lives.lives.size(); i-- > 0;) {
    if (i == lives.judged || !is_telling(lives, i, signals.clock_of_instant)) continue;
    Signals other = columns.signals(prefix, i);
    if (other.components.empty()) continue;
    if (decide_case(prefix, other, policy).decision().word != Word::undecided) return other;
  }
  return signals;
}

Verdict judge_component(const Run& run, std::string_view component, const Policy& policy) {
  const Signals signals = telling_signals(TreeColumns(run), run, policy);
  if (signals.components.empty()) return nothing_measured(run);
  CaseFile file = decide_case(run, signals, policy);
  let_decide(component, file);
  return sum_up(file);
}

Verdict judge_signals(const Run& run, const Signals& signals, const Policy& policy) {
  if (signals.components.empty()) return nothing_measured(run);
  return sum_up(decide_case(run, signals, policy));
}

CaseFile decide_case(const Run& run, const Signals& signals, const Policy& policy) {
  CaseFile file = open_case(run, signals, policy);
  decide_components(file, policy);
  return file;
}

Verdict sum_up(const CaseFile& file) {
  const Run& run = *file.run;
  const Signals& signals = *file.signals;
  const Decision& decision = file.decision();
  const std::vector<TimedValue>& points = file.shown();
  Verdict verdict;
  verdict.file = run.source;
  verdict.title = run.title;
  verdict.word = decision.word;
  verdict.confidence = std::min(decision.confidence, kMostConfident);
  verdict.leak_odds = decision.odds;
  verdict.component = file.component().name;
  verdict.clock = signals.clock;
  verdict.first_step = points.front().at;
  verdict.last_step = points.back().at;
  verdict.first_mb = points.front().mb;
  verdict.last_mb = points.back().mb;
  verdict.samples = points.size();

  fill_components(file, verdict);
  fill_growth(file, verdict);
  fill_processes(file, verdict);
  fill_lives(file, verdict);
  fill_excursions(file, verdict);
  fill_outlook(file, verdict);
  verdict.explanations = explain(decision);
  gather_evidence(file, verdict);
  add_said(file, verdict);
  verdict.causes = rank_causes(file, verdict);
  fill_plot(file, verdict);
  verdict.onset_step = find_onset(verdict);
  return verdict;
}

std::vector<Verdict> replay(const Run& run, const Policy& policy, size_t first) {
  const size_t samples = run.instants.size();
  size_t count = std::max<size_t>(first, 1);
  std::vector<Verdict> verdicts;
  if (count > samples) return verdicts;
  const size_t stride = (samples - count) / kMostLooks + 1;
  for (; count < samples; count += stride) {
    verdicts.push_back(judge(prefix_of(run, count), policy));
  }
  verdicts.push_back(judge(run, policy));
  return verdicts;
}

}  // namespace plateau
