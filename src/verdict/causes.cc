// SPDX-License-Identifier: Apache-2.0
#include "verdict/causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "verdict/explanations.h"

namespace plateau {
namespace {

// What every scoring function looks at, computed once.
struct Clues {
  const CaseFile& file;
  const Verdict& verdict;
  double rise_mb = 0;  // Growth of the deciding component, first floor to last.
  bool grows = false;  // It rose by more than a plateau may creep.
  bool is_owned = false;

  [[nodiscard]] double weight(Family family) const { return weight_of(file, family); }
  [[nodiscard]] const CountTrend* count(std::string_view what) const { return file.count(what); }
  // Python's objects or, where only those are counted, tensors; the one that rises first.
  [[nodiscard]] const CountTrend* object_count() const {
    const CountTrend* tensors = count("tensors");
    const CountTrend* objects = count("objects");
    if (tensors == nullptr) return objects;
    return objects != nullptr && objects->rising && !tensors->rising ? objects : tensors;
  }
  [[nodiscard]] bool rising(std::string_view what) const {
    const CountTrend* trend = count(what);
    return trend != nullptr && trend->rising;
  }
  [[nodiscard]] double unbounded() const {
    double sum = 0;
    for (size_t i = 0; i < kFamilyCount; ++i) {
      if (!is_bounded(static_cast<Family>(i))) sum += weight(static_cast<Family>(i));
    }
    return sum;
  }
  // The deciding component is another one than owned memory.
  [[nodiscard]] bool component_is(std::string_view name) const {
    return file.component().name == name;
  }
};

struct CauseEntry {
  const char* name;
  const char* title;
  double (*score)(const Clues&);
  std::string (*evidence)(const Clues&);
  const char* confirm;
  const char* fix;
};

std::string per_example(const Clues& clues) {
  if (!clues.verdict.mb_per_example) return "";
  return fmt::format(", {} for each example seen for the first time",
                     format_mb(*clues.verdict.mb_per_example));
}

std::string at_clock(const Clues& clues, double at) {
  return clock_words(clues.verdict.clock, at);
}

double settled_step(const Clues& clues) {
  return clues.verdict.settled ? clues.verdict.settled->step : clues.verdict.last_step;
}

double score_example_cache(const Clues& c) {
  if (!c.is_owned || !c.grows || c.file.timeline.epoch_steps <= 0) return 0;
  const double ahead =
      c.file.timeline.epoch_steps > c.verdict.last_step ? c.weight(Family::still_filling) : 0.0;
  const double stopped = ended_with_epoch(c.file, c.verdict) ? 0.8 * (1 - c.unbounded()) : 0.0;
  return std::max(c.weight(Family::epoch_hinge) + ahead, stopped);
}
std::string say_example_cache(const Clues& c) {
  const bool over = c.verdict.last_step >= c.file.timeline.epoch_steps;
  return fmt::format("growth {} the first pass over the data ({} = {}){}",
                     over ? "stopped at the end of" : "is steady within", c.file.epoch_source,
                     at_clock(c, c.file.timeline.epoch_steps), per_example(c));
}

double score_bounded_cache(const Clues& c) {
  if (!c.is_owned || !c.grows) return 0;
  const double filling =
      c.file.timeline.epoch_steps > c.verdict.last_step ? 0 : c.weight(Family::still_filling);
  return 0.8 * (c.weight(Family::capacity) + filling) + 0.5 * c.weight(Family::saturating) +
         0.4 * c.weight(Family::settled) + 0.4 * c.weight(Family::slowing_steps);
}
std::string say_bounded_cache(const Clues& c) {
  if (!c.verdict.settled) return "growth so far fits a cache that is not full yet";
  const double epoch = c.file.timeline.epoch_steps;
  const bool at_epoch = epoch > 0 && std::fabs(epoch - settled_step(c)) < 0.05 * epoch;
  return fmt::format("growth slowed or stopped by {}{}", at_clock(c, settled_step(c)),
                     epoch > 0 && !at_epoch ? ", away from the end of an epoch" : "");
}

double score_high_water(const Clues& c) {
  if (!c.is_owned || !c.grows) return 0;
  return c.weight(Family::records) + 0.6 * c.weight(Family::slowing_steps) +
         0.35 * c.weight(Family::saturating) + 0.3 * c.weight(Family::settled);
}
std::string say_high_water(const Clues& c) {
  return fmt::format(
      "{} gained in steps that come ever more rarely, as the largest batch so far "
      "sets the size of the pools",
      format_mb(c.rise_mb));
}

// Growth over within the first tenth of the run, or in one step; or, where nothing grew since, what
// arrived before the first step. Every program needs some MB to start; from a fifth of the level
// and kStartUpMb on it is worth a word, but never more than a guess beside causes with evidence of
// their own.
constexpr double kStartUpMb = 32;
constexpr double kStartUpShare = 0.2;

bool grew_at_the_start(const Clues& c) {
  if (!c.is_owned || !c.grows || !c.verdict.settled) return false;
  const double run = c.verdict.last_step - c.verdict.first_step;
  const double share = (c.verdict.settled->step - c.verdict.first_step) / std::max(run, 1e-9);
  return share <= 0.1;
}
double score_start_up(const Clues& c) {
  if (grew_at_the_start(c)) return 0.9;
  const double before_mb = c.file.signals->start_up_mb;
  const double level_mb = c.file.decision().floors.level_mb;
  if (c.grows || !c.is_owned || before_mb < std::max(kStartUpMb, kStartUpShare * level_mb)) {
    return 0;
  }
  return 0.4;
}
std::string say_start_up(const Clues& c) {
  if (!grew_at_the_start(c)) {
    return fmt::format("{} arrived before {} and nothing since",
                       format_mb(c.file.signals->start_up_mb), at_clock(c, c.verdict.first_step));
  }
  return fmt::format("{} arrived before {} and nothing since", format_mb(c.rise_mb),
                     at_clock(c, settled_step(c)));
}

double score_phase(const Clues& c) {
  if (!c.grows) return 0;
  double stepped = 0;
  for (const Fit& fit : c.file.decision().posterior.fits) {
    if (fit.steps > 0 && fit.family->bounded) stepped += fit.weight;
  }
  return grew_at_the_start(c) ? 0 : 0.6 * stepped * (1 - c.unbounded());
}
std::string say_phase(const Clues& c) {
  const Fit* best = nullptr;
  for (const Fit& fit : c.file.decision().posterior.fits) {
    if (fit.steps > 0 && (best == nullptr || fit.weight > best->weight)) best = &fit;
  }
  if (best == nullptr) return "";
  return fmt::format("one step up at {}, level before and after", at_clock(c, best->step_at));
}

double score_first_events(const Clues& c) {
  return c.grows ? c.weight(Family::first_events) : 0;
}
std::string say_first_events(const Clues&) {
  return "the floor rose at the first evaluations or checkpoints and not at later ones";
}

// Workers that multiply at every evaluation are the better answer, being more specific.
double score_eval_leak(const Clues& c) {
  const double specific = c.rising("processes") ? 0.3 : 1.0;
  return c.grows ? specific * c.weight(Family::per_evaluation) : 0;
}
std::string say_eval_leak(const Clues& c) {
  return fmt::format("the floor rises at each of {} evaluations and is level between them",
                     c.file.timeline.evaluations.size());
}

double score_checkpoint_leak(const Clues& c) {
  return c.grows ? c.weight(Family::per_checkpoint) : 0;
}
std::string say_checkpoint_leak(const Clues& c) {
  return fmt::format("the floor rises at each of {} checkpoints and is level between them",
                     c.file.timeline.checkpoints.size());
}

double score_epoch_history(const Clues& c) {
  return c.weight(Family::epoch_ramp) + (c.grows ? c.weight(Family::per_epoch) : 0);
}
std::string say_epoch_history(const Clues&) {
  return "memory follows the epochs, not the steps";
}

double score_copy_on_write(const Clues& c) {
  if (!c.grows || c.file.run->processes.size() < 2) return 0;
  if (!c.file.rss_growth_mb || !c.file.pss_growth_mb) return 0;
  const double pss = *c.file.pss_growth_mb;
  return pss > 0.5 * c.rise_mb && *c.file.rss_growth_mb < 0.6 * pss ? 0.95 : 0;
}
std::string say_copy_on_write(const Clues& c) {
  return fmt::format(
      "summed RSS grew by {} only, PSS by {}: pages shared since the fork are being "
      "copied, not allocated",
      format_mb(*c.file.rss_growth_mb), format_mb(*c.file.pss_growth_mb));
}

double score_file_pages(const Clues& c) {
  for (const ComponentVerdict& component : c.verdict.components) {
    if (!component.reclaimable) continue;
    const double rise = component.last_mb - component.first_mb;
    if (rise > c.file.decision().tolerated_mb && rise > c.rise_mb) return 0.95;
  }
  return 0;
}
std::string say_file_pages(const Clues& c) {
  for (const ComponentVerdict& component : c.verdict.components) {
    if (component.reclaimable) {
      return fmt::format("file-backed pages grew from {} to {}; owned memory did not",
                         format_mb(component.first_mb), format_mb(component.last_mb));
    }
  }
  return "";
}

double score_shared_memory(const Clues& c) {
  return c.component_is("shmem") && c.grows ? 0.95 : 0;
}
std::string say_shared_memory(const Clues& c) {
  return fmt::format("shared memory grew by {}", format_mb(c.rise_mb));
}

double score_processes(const Clues& c) {
  return c.grows && c.rising("processes") ? 0.9 : 0;
}
std::string say_processes(const Clues& c) {
  const CountTrend* trend = c.count("processes");
  return fmt::format("processes went from {:.0f} to {:.0f}", trend->first, trend->last);
}

// More processes have more threads; that is not a leak of threads.
double score_threads(const Clues& c) {
  return c.grows && c.rising("threads") && !c.rising("processes") ? 0.8 : 0;
}
std::string say_threads(const Clues& c) {
  const CountTrend* trend = c.count("threads");
  return fmt::format("threads went from {:.0f} to {:.0f}", trend->first, trend->last);
}

// "tensors.cpu" and "gc.objects" as a reader says them.
std::string counted_things(const CountTrend& trend) {
  return trend.name == "gc.objects" ? "objects known to the collector" : trend.name;
}

double score_objects(const Clues& c) {
  if (!c.grows || !c.is_owned) return 0;
  const CountTrend* trend = c.object_count();
  if (trend == nullptr) return 0.3 * c.unbounded();
  return trend->rising ? 0.95 * std::max(c.unbounded(), 0.3) : 0;
}
std::string say_objects(const Clues& c) {
  const CountTrend* trend = c.object_count();
  if (trend == nullptr) return "growth per step without bound; no object counts in the log";
  return fmt::format("{} went from {} to {}", counted_things(*trend),
                     format_count(std::llround(trend->first)),
                     format_count(std::llround(trend->last)));
}

double score_native(const Clues& c) {
  if (!c.grows || !c.is_owned) return 0;
  const double steady_line = c.unbounded() - c.weight(Family::per_evaluation) -
                             c.weight(Family::per_checkpoint) - c.weight(Family::per_epoch);
  const CountTrend* trend = c.object_count();
  if (trend == nullptr) return 0.4 * steady_line;
  return (trend->rising ? 0.2 : 0.7) * steady_line;
}
std::string say_native(const Clues& c) {
  const CountTrend* trend = c.object_count();
  if (trend == nullptr) return "steady growth per step, whatever the data or the epoch";
  if (trend->rising) return "steady growth per step; the objects counted may not be all of it";
  return fmt::format("steady growth per step while {} stay at {}", counted_things(*trend),
                     format_count(std::llround(trend->last)));
}

double score_gpu_pool(const Clues& c) {
  return (c.component_is("gpu") || c.component_is("gpu_reserved")) && c.grows ? 0.9 : 0;
}
std::string say_gpu_pool(const Clues& c) {
  return fmt::format("{} grew by {}", c.file.component().measure, format_mb(c.rise_mb));
}

double score_spikes(const Clues& c) {
  return !c.grows && c.verdict.spikes.count >= 2 ? 0.9 : 0;
}
std::string say_spikes(const Clues& c) {
  return fmt::format("{} excursions of {} over a level floor{}", c.verdict.spikes.count,
                     format_mb(c.verdict.spikes.height_mb),
                     c.verdict.spikes.clock.empty() ? "" : ", " + c.verdict.spikes.clock);
}

double score_sawtooth(const Clues& c) {
  return c.verdict.sawtooth ? (c.grows ? 0.3 : 0.8) : 0;
}
std::string say_sawtooth(const Clues& c) {
  return fmt::format("teeth of {} every {} or so", format_mb(c.verdict.sawtooth->height_mb),
                     c.verdict.clock == Clock::seconds
                         ? format_seconds(c.verdict.sawtooth->period_steps)
                         : fmt::format("{:.0f} {}s", c.verdict.sawtooth->period_steps,
                                       clock_unit(c.verdict.clock)));
}

constexpr CauseEntry kCauses[] = {
#include "verdict/cause_table.inc"
};

// What the table does not know: some weight is always left over.
constexpr double kReserve = 0.05;
constexpr size_t kMostCauses = 5;
constexpr double kLeastScore = 0.02;

}  // namespace

std::vector<Cause> rank_causes(const CaseFile& file, const Verdict& verdict) {
  Clues clues{.file = file, .verdict = verdict};
  const Decision& decision = file.decision();
  if (decision.floors.mb.empty()) return {};
  clues.rise_mb = decision.floors.level_mb - decision.floors.mb.front();
  clues.grows = clues.rise_mb > decision.tolerated_mb;
  clues.is_owned = file.component().name == "owned" || file.component().name == "system";

  std::vector<Cause> causes;
  double total = kReserve;
  for (const CauseEntry& entry : kCauses) {
    const double score = entry.score(clues);
    if (score < kLeastScore) continue;
    total += score;
    causes.push_back({.name = entry.name,
                      .title = entry.title,
                      .weight = score,
                      .evidence = entry.evidence(clues),
                      .confirm = entry.confirm,
                      .fix = entry.fix});
  }
  for (Cause& cause : causes) {
    if (cause.name == "per-example-cache" && verdict.settled) {
      cause.fix += fmt::format(": about {} would come back", format_mb(clues.rise_mb));
    }
  }
  std::stable_sort(causes.begin(), causes.end(),
                   [](const Cause& a, const Cause& b) { return a.weight > b.weight; });
  if (causes.size() > kMostCauses) causes.resize(kMostCauses);
  for (Cause& cause : causes) cause.weight /= std::max(total, 1.0);
  return causes;
}

}  // namespace plateau
