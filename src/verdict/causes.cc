// SPDX-License-Identifier: Apache-2.0
#include "verdict/causes.h"

#include <algorithm>
#include <cmath>

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
  // A container with one item for each example once the first pass was over: what a cache of them
  // looks like, and full.
  [[nodiscard]] bool holds_each_example(const Holder& holder) const {
    const std::optional<Fact>& examples = file.run->context.examples;
    if (!examples || holder.length_after == 0) return false;
    return static_cast<double>(file.run->holders->to_step) >= file.timeline.epoch_steps &&
           file.timeline.epoch_steps > 0 &&
           static_cast<double>(holder.length_after) == examples->value;
  }
  // A container that was seen to grow, or a tensor whose graph was; nullptr if none was. One that
  // holds each example grows no more.
  [[nodiscard]] const Holder* holder() const {
    if (!file.run->holders) return nullptr;
    for (const Holder& holder : file.run->holders->holders) {
      if (holder.kind == HolderKind::unseen || holds_each_example(holder)) continue;
      if (holder.grew() > 0 || holder.deepened() > 0) return &holder;
    }
    return nullptr;
  }
  [[nodiscard]] bool lru_cache_grew() const {
    const Holder* found = holder();
    return found != nullptr && found->kind == HolderKind::lru_cache;
  }
  [[nodiscard]] bool example_holder() const {
    return file.run->holders &&
           std::ranges::any_of(file.run->holders->holders,
                               [&](const Holder& each) { return holds_each_example(each); });
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
  // The program that grew is known, and is another than Python.
  [[nodiscard]] bool not_python() const { return runs_without_python(file, verdict); }
  // The deciding component is another one than owned memory.
  [[nodiscard]] bool component_is(std::string_view name) const {
    return file.component().name == name;
  }
};

struct CauseRow {
  std::string_view name;
  double (*score)(const Clues&);
  Finding (*evidence)(const Clues&);
};

double settled_step(const Clues& clues) {
  return clues.verdict.settled ? clues.verdict.settled->step : clues.verdict.last_step;
}

double score_example_cache(const Clues& c) {
  if (!c.is_owned || !c.grows || c.file.timeline.epoch_steps <= 0) return 0;
  const double ahead =
      c.file.timeline.epoch_steps > c.verdict.last_step ? c.weight(Family::still_filling) : 0.0;
  const bool over = ended_with_epoch(c.file, c.verdict) || c.example_holder();
  // Where what grew is seen to be a cache, it is not the place of the bend alone that speaks.
  const double sure = c.lru_cache_grew() ? 0.95 : 0.8;
  const double stopped = over ? sure * (1 - c.unbounded()) : 0.0;
  const double shown = c.weight(Family::epoch_hinge) + c.weight(Family::follows_examples);
  return std::max(shown + ahead, stopped);
}
Finding see_example_cache(const Clues& c) {
  if (follows_new_examples(c.file)) return following_examples(c.file);
  const bool over = c.verdict.last_step >= c.file.timeline.epoch_steps;
  Finding finding{
      over ? FindingKind::stopped_with_first_pass : FindingKind::steady_within_first_pass,
      {{"epoch_steps", c.file.timeline.epoch_steps, Unit::moment}},
      {{"source", c.file.epoch_source}}};
  if (c.verdict.mb_per_example) {
    finding.numbers.push_back({"mb_per_example", *c.verdict.mb_per_example, Unit::mb});
  }
  return finding;
}

double score_bounded_cache(const Clues& c) {
  if (!c.is_owned || !c.grows) return 0;
  const double filling =
      c.file.timeline.epoch_steps > c.verdict.last_step ? 0 : c.weight(Family::still_filling);
  const double shape = 0.8 * (c.weight(Family::capacity) + filling) +
                       0.5 * c.weight(Family::saturating) + 0.4 * c.weight(Family::settled) +
                       0.4 * c.weight(Family::slowing_steps);
  // What grew is seen to be a cache by its type, and the growth ended, but not with the data.
  const bool cache = c.lru_cache_grew() && !ended_with_epoch(c.file, c.verdict);
  return cache && c.verdict.settled ? std::max(shape, 0.9 * (1 - c.unbounded())) : shape;
}
Finding see_bounded_cache(const Clues& c) {
  if (!c.verdict.settled) return {FindingKind::cache_not_full, {}, {}};
  const double epoch = c.file.timeline.epoch_steps;
  const bool at_epoch = ended_with_epoch(c.file, c.verdict);
  Finding finding{FindingKind::slowed_by, {{"settled_step", settled_step(c), Unit::moment}}, {}};
  if (epoch > 0 && !at_epoch) finding.numbers.push_back({"epoch_steps", epoch, Unit::moment});
  return finding;
}

double score_high_water(const Clues& c) {
  if (!c.is_owned || !c.grows) return 0;
  return c.weight(Family::records) + 0.6 * c.weight(Family::slowing_steps) +
         0.35 * c.weight(Family::saturating) + 0.3 * c.weight(Family::settled);
}
Finding see_high_water(const Clues& c) {
  return {FindingKind::steps_come_rarer, {{"growth_mb", c.rise_mb, Unit::mb}}, {}};
}

// A level series has a little of every wave in it.
constexpr double kLeastLoad = 0.3;

double score_load(const Clues& c) {
  const double weight = c.weight(Family::follows_load) + c.weight(Family::waves);
  return weight >= kLeastLoad ? weight : 0;
}
Finding see_load(const Clues& c) {
  if (c.weight(Family::follows_load) > c.weight(Family::waves)) {
    return {FindingKind::follows_load, {}, {}};
  }
  const Fit& wave = c.file.decision().posterior.families[static_cast<size_t>(Family::waves)].best;
  return {FindingKind::comes_in_waves, {{"period_steps", wave.parameter, Unit::length}}, {}};
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
  if (score_load(c) > 0.5) return 0;
  // The first pass over a small dataset is soon over too, and ends where it was known to.
  if (grew_at_the_start(c)) return ended_with_epoch(c.file, c.verdict) ? 0.2 : 0.9;
  const double before_mb = c.file.signals->start_up_mb;
  const double level_mb = c.file.decision().floors.level_mb;
  if (c.grows || !c.is_owned || before_mb < std::max(kStartUpMb, kStartUpShare * level_mb)) {
    return 0;
  }
  return 0.4;
}
Finding see_start_up(const Clues& c) {
  const bool at_start = grew_at_the_start(c);
  return {FindingKind::arrived_at_start,
          {{"growth_mb", at_start ? c.rise_mb : c.file.signals->start_up_mb, Unit::mb},
           {"step", at_start ? settled_step(c) : c.verdict.first_step, Unit::moment}},
          {}};
}

double score_phase(const Clues& c) {
  if (!c.grows) return 0;
  double stepped = 0;
  for (const Fit& fit : c.file.decision().posterior.fits) {
    if (fit.steps > 0 && fit.family->bounded) stepped += fit.weight;
  }
  return grew_at_the_start(c) ? 0 : 0.6 * stepped * (1 - c.unbounded());
}
Finding see_phase(const Clues& c) {
  const Fit* best = nullptr;
  for (const Fit& fit : c.file.decision().posterior.fits) {
    if (fit.steps > 0 && (best == nullptr || fit.weight > best->weight)) best = &fit;
  }
  if (best == nullptr) return {};
  return {FindingKind::one_step_up, {{"step", best->step_at, Unit::moment}}, {}};
}

double score_first_events(const Clues& c) {
  return c.grows ? c.weight(Family::first_events) : 0;
}
Finding see_first_events(const Clues&) {
  return {FindingKind::first_events_only, {}, {}};
}

// Workers that multiply at every evaluation are the better answer, being more specific.
double score_eval_leak(const Clues& c) {
  const double specific = c.rising("processes") ? 0.3 : 1.0;
  return c.grows ? specific * c.weight(Family::per_evaluation) : 0;
}
Finding see_eval_leak(const Clues& c) {
  const auto evaluations = static_cast<double>(c.file.timeline.evaluations.size());
  return {FindingKind::rises_at_evaluations, {{"evaluations", evaluations}}, {}};
}

double score_checkpoint_leak(const Clues& c) {
  return c.grows ? c.weight(Family::per_checkpoint) : 0;
}
Finding see_checkpoint_leak(const Clues& c) {
  const auto checkpoints = static_cast<double>(c.file.timeline.checkpoints.size());
  return {FindingKind::rises_at_checkpoints, {{"checkpoints", checkpoints}}, {}};
}

double score_epoch_history(const Clues& c) {
  return c.weight(Family::epoch_ramp) + (c.grows ? c.weight(Family::per_epoch) : 0);
}
Finding see_epoch_history(const Clues&) {
  return {FindingKind::follows_epochs, {}, {}};
}

double score_copy_on_write(const Clues& c) {
  if (!c.grows || c.file.run->processes.size() < 2) return 0;
  if (!c.file.rss_growth_mb || !c.file.pss_growth_mb) return 0;
  const double pss = *c.file.pss_growth_mb;
  return pss > 0.5 * c.rise_mb && *c.file.rss_growth_mb < 0.6 * pss ? 0.95 : 0;
}
Finding see_copy_on_write(const Clues& c) {
  return {FindingKind::pages_copied,
          {{"rss_growth_mb", *c.file.rss_growth_mb, Unit::mb},
           {"pss_growth_mb", *c.file.pss_growth_mb, Unit::mb}},
          {}};
}

double score_file_pages(const Clues& c) {
  for (const ComponentVerdict& component : c.verdict.components) {
    if (!component.reclaimable) continue;
    const double rise = component.last_mb - component.first_mb;
    if (rise > c.file.decision().tolerated_mb && rise > c.rise_mb) return 0.95;
  }
  return 0;
}
Finding see_file_pages(const Clues& c) {
  for (const ComponentVerdict& component : c.verdict.components) {
    if (!component.reclaimable) continue;
    return {FindingKind::file_pages_grew,
            {{"first_mb", component.first_mb, Unit::mb},
             {"last_mb", component.last_mb, Unit::mb},
             {"growth_mb", component.last_mb - component.first_mb, Unit::mb}},
            {}};
  }
  return {};
}

double score_shared_memory(const Clues& c) {
  return c.component_is("shmem") && c.grows ? 0.95 : 0;
}
Finding see_shared_memory(const Clues& c) {
  return {FindingKind::shared_memory_grew, {{"growth_mb", c.rise_mb, Unit::mb}}, {}};
}

double score_processes(const Clues& c) {
  return c.grows && c.rising("processes") ? 0.9 : 0;
}
Finding see_processes(const Clues& c) {
  const CountTrend* trend = c.count("processes");
  return {FindingKind::processes_multiply, {{"first", trend->first}, {"last", trend->last}}, {}};
}

// Four threads more are a pattern; one or two are a pool that opened.
constexpr double kMultiply = 4;

// More processes have more threads; that is not a leak of threads. Nor do threads that still
// multiply explain growth that ended with the first pass over the data.
double score_threads(const Clues& c) {
  if (!c.grows || !c.rising("threads") || c.rising("processes")) return 0;
  const CountTrend* trend = c.count("threads");
  if (trend->last - trend->first < kMultiply) return 0;
  return ended_with_epoch(c.file, c.verdict) ? 0.3 : 0.8;
}
Finding see_threads(const Clues& c) {
  const CountTrend* trend = c.count("threads");
  return {FindingKind::threads_multiply, {{"first", trend->first}, {"last", trend->last}}, {}};
}

std::string noun_of(const Holder& holder) {
  return holder.kind == HolderKind::lru_cache ? "lru_cache" : holder.type;
}

double score_objects(const Clues& c) {
  if (!c.grows || !c.is_owned) return 0;
  const CountTrend* trend = c.object_count();
  // What an lru_cache gained until the first pass was over is the cache's, and is told as that.
  const bool cached = c.lru_cache_grew() && ended_with_epoch(c.file, c.verdict);
  if (c.holder() != nullptr && !cached) return 0.95 * std::max(c.unbounded(), 0.3);
  if (trend == nullptr) return c.not_python() ? 0 : 0.3 * c.unbounded();
  return trend->rising ? 0.95 * std::max(c.unbounded(), 0.3) : 0;
}
Finding see_objects(const Clues& c) {
  const Holder* holder = c.holder();
  if (holder != nullptr && holder->deepened() > 0) {
    return {FindingKind::graph_deepened,
            {{"first", static_cast<double>(holder->graph_depth_before)},
             {"last", static_cast<double>(holder->graph_depth)}},
            {{"holder", holder->path}}};
  }
  if (holder != nullptr) {
    return {FindingKind::holder_grew,
            {{"first", static_cast<double>(holder->length_before)},
             {"last", static_cast<double>(holder->length_after)}},
            {{"holder", noun_of(*holder) + " " + holder->path}}};
  }
  const CountTrend* trend = c.object_count();
  if (trend == nullptr) return {FindingKind::grows_per_step, {}, {}};
  return finding_of(*trend);
}

double score_native(const Clues& c) {
  if (!c.grows || !c.is_owned) return 0;
  const double steady_line = c.unbounded() - c.weight(Family::per_evaluation) -
                             c.weight(Family::per_checkpoint) - c.weight(Family::per_epoch);
  const CountTrend* trend = c.object_count();
  if (c.holder() != nullptr) return 0.2 * steady_line;
  if (trend == nullptr) return 0.4 * steady_line;
  return (trend->rising ? 0.2 : 0.7) * steady_line;
}
Finding see_native(const Clues& c) {
  const CountTrend* trend = c.object_count();
  if (trend == nullptr) return {FindingKind::grows_per_step, {}, {}};
  return {FindingKind::grows_beside_counts, {{"last", trend->last}}, {{"counted", trend->name}}};
}

double score_gpu_pool(const Clues& c) {
  return (c.component_is("gpu") || c.component_is("gpu_reserved")) && c.grows ? 0.9 : 0;
}
Finding see_gpu_pool(const Clues& c) {
  return {FindingKind::gpu_memory_grew,
          {{"growth_mb", c.rise_mb, Unit::mb}},
          {{"component", c.file.component().name}}};
}

double score_java_heap(const Clues& c) {
  return c.component_is(kJavaHeap.name) && c.grows ? 0.9 : 0;
}
Finding see_java_heap(const Clues& c) {
  return {FindingKind::java_heap_grew,
          {{"growth_mb", c.rise_mb, Unit::mb},
           {"collections", static_cast<double>(c.file.component().points.size())}},
          {}};
}

double score_spikes(const Clues& c) {
  return !c.grows && c.verdict.spikes.count >= 2 ? 0.9 : 0;
}
Finding see_spikes(const Clues& c) {
  return finding_of(c.verdict.spikes);
}

double score_sawtooth(const Clues& c) {
  return c.verdict.sawtooth ? (c.grows ? 0.3 : 0.8) : 0;
}
Finding see_sawtooth(const Clues& c) {
  return {FindingKind::teeth_over_floor,
          {{"height_mb", c.verdict.sawtooth->height_mb, Unit::mb},
           {"period_steps", c.verdict.sawtooth->period_steps, Unit::length}},
          {}};
}

// Ids are stable: they stand in JSON and in docs/causes.md. Titles, experiments and fixes stand in
// src/words/cause_table.cc under the same ids.
constexpr CauseRow kCauses[] = {
    {"per-example-cache", score_example_cache, see_example_cache},
    {"copy-on-write", score_copy_on_write, see_copy_on_write},
    {"file-backed-pages", score_file_pages, see_file_pages},
    {"shared-memory", score_shared_memory, see_shared_memory},
    {"worker-pools", score_processes, see_processes},
    {"thread-growth", score_threads, see_threads},
    {"evaluation-leak", score_eval_leak, see_eval_leak},
    {"checkpoint-leak", score_checkpoint_leak, see_checkpoint_leak},
    {"first-events", score_first_events, see_first_events},
    {"epoch-history", score_epoch_history, see_epoch_history},
    {"bounded-cache", score_bounded_cache, see_bounded_cache},
    {"allocator-high-water", score_high_water, see_high_water},
    {"start-up-state", score_start_up, see_start_up},
    {"phase-change", score_phase, see_phase},
    {"python-objects", score_objects, see_objects},
    {"native-leak", score_native, see_native},
    {"load", score_load, see_load},
    {"gpu-memory", score_gpu_pool, see_gpu_pool},
    {"java-heap", score_java_heap, see_java_heap},
    {"evaluation-spikes", score_spikes, see_spikes},
    {"sawtooth", score_sawtooth, see_sawtooth},
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
  for (const CauseRow& row : kCauses) {
    const double score = row.score(clues);
    if (score < kLeastScore) continue;
    total += score;
    causes.push_back({.name = row.name, .weight = score, .evidence = row.evidence(clues)});
    if (row.name == "per-example-cache" && verdict.settled) {
      causes.back().gives_back_mb = clues.rise_mb;
    }
  }
  std::stable_sort(causes.begin(), causes.end(),
                   [](const Cause& a, const Cause& b) { return a.weight > b.weight; });
  if (causes.size() > kMostCauses) causes.resize(kMostCauses);
  for (Cause& cause : causes) cause.weight /= std::max(total, 1.0);
  return causes;
}

}  // namespace plateau
