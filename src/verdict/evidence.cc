// SPDX-License-Identifier: Apache-2.0
#include "verdict/evidence.h"

#include <algorithm>
#include <cmath>

#include "base/statistics.h"
#include "base/text.h"
#include "verdict/explanations.h"
#include "verdict/largest_cache.h"

namespace plateau {
namespace {

using Kind = FindingKind;

// A bounded explanation below this share is as good as ruled out.
constexpr double kRuledOut = 1e-4;
// A climb that saturates brings less in its second half than this share of its first: one that ends
// after three time constants brings a fifth.
constexpr double kAsMuch = 0.75;
// Falls that look like restarts: this share of a tooth within one sample, at least so often, and a
// tooth at least as high as what the program begins with.
constexpr double kAtOnce = 0.8;
constexpr size_t kRestarts = 3;
constexpr double kTimesTheStart = 1;

class Gatherer {
 public:
  Gatherer(const CaseFile& file, Verdict& verdict)
      : file_(file), decision_(file.decision()), verdict_(verdict) {}

  void gather() {
    switch (verdict_.word) {
      case Word::plateau:
        of_plateau();
        break;
      case Word::warming:
        of_warming();
        break;
      case Word::leak:
        of_leak();
        break;
      case Word::undecided:
        of_undecided();
        break;
    }
    of_creep();
    of_epoch();
    of_counts();
    of_java_heap();
    of_components();
    of_processes();
    of_spikes();
    warn();
  }

 private:
  void found(Kind kind, std::vector<Number> numbers = {}, std::vector<Name> names = {}) {
    verdict_.evidence.push_back({kind, std::move(numbers), std::move(names)});
  }
  [[nodiscard]] const Explanation* best(bool bounded) const {
    return likeliest(verdict_.explanations, bounded);
  }
  [[nodiscard]] bool rose() const {
    return verdict_.settled && verdict_.settled->mb - verdict_.first_mb > decision_.tolerated_mb;
  }

  void of_plateau() {
    const Verdict::Settled& settled = *verdict_.settled;
    if (rose()) {
      found(Kind::grew_then_level, {{"first_mb", verdict_.first_mb, Unit::mb},
                                    {"settled_mb", settled.range.high, Unit::mb},
                                    {"first_step", verdict_.first_step, Unit::moment},
                                    {"settled_step", settled.step, Unit::moment},
                                    {"rate_mb_per_step", verdict_.rate_mb_per_step, Unit::rate},
                                    {"low_mb", settled.range.low, Unit::mb},
                                    {"high_mb", settled.range.high, Unit::mb}});
    } else {
      found(Kind::level_all_along, {{"low_mb", settled.range.low, Unit::mb},
                                    {"high_mb", settled.range.high, Unit::mb},
                                    {"first_step", verdict_.first_step, Unit::moment},
                                    {"last_step", verdict_.last_step, Unit::moment}});
    }
    if (rose() && file_.timeline.epoch_steps <= 0 && verdict_.clock == Clock::steps) {
      verdict_.missing = {
          Kind::pass_end_would_name_cause, {{"settled_step", settled.step, Unit::moment}}, {}};
    }
    found(Kind::growth_left_below, {{"rate_mb_per_step", decision_.tolerated_rate, Unit::rate}});
  }

  void of_warming() {
    Finding slows{Kind::slows_down,
                  {{"rate_mb_per_step", verdict_.current_rate_mb_per_step, Unit::rate}},
                  {}};
    if (const Explanation* bounded = best(true)) slows.names = {named("bounded", *bounded)};
    verdict_.evidence.push_back(std::move(slows));
    if (verdict_.forecast) {
      found(Kind::will_level_near, {{"plateau_mb", verdict_.forecast->plateau_mb, Unit::mb},
                                    {"low_mb", verdict_.forecast->range.low, Unit::mb},
                                    {"high_mb", verdict_.forecast->range.high, Unit::mb}});
    }
  }

  void of_leak() {
    found(Kind::rises_still, {{"rate_mb_per_step", verdict_.rate_mb_per_step, Unit::rate},
                              {"rate_low", verdict_.rate_range.low, Unit::rate},
                              {"rate_high", verdict_.rate_range.high, Unit::rate},
                              {"first_mb", verdict_.first_mb, Unit::mb},
                              {"last_mb", verdict_.last_mb, Unit::mb},
                              {"last_step", verdict_.last_step, Unit::moment}});
    const Explanation* bounded = best(true);
    if (bounded == nullptr || bounded->weight < kRuledOut) {
      found(Kind::bounded_ruled_out, {{"weight", kRuledOut, Unit::share}});
    } else {
      found(Kind::bounded_hardly_fits, {{"weight", bounded->weight, Unit::share}},
            {named("bounded", *bounded)});
    }
    if (const Explanation* unbounded = best(false)) {
      found(Kind::likeliest_shape, {}, {named("unbounded", *unbounded)});
    }
    verdict_.experiment = {leak_experiment(), {}, {}};
  }

  // Batches and passes are a training job's. What has neither steps nor epochs is asked about
  // requests.
  [[nodiscard]] bool of_server() const {
    return file_.timeline.in_seconds && file_.timeline.epoch_steps == 0;
  }

  [[nodiscard]] Kind leak_experiment() const {
    if (weight_of(file_, Family::per_evaluation) > 0.5) return Kind::try_evaluations_in_a_row;
    if (weight_of(file_, Family::per_checkpoint) > 0.5) return Kind::try_saves_in_a_row;
    return of_server() ? Kind::try_same_requests_again : Kind::try_same_batches_over;
  }

  void of_undecided() {
    if (decision_.posterior.fits.empty() || !decision_.enough) {
      verdict_.undecided_because = {
          Kind::too_few_samples,
          {{"samples", static_cast<double>(verdict_.samples)}, {"needed", double{kMinSamples}}},
          {}};
    } else {
      verdict_.undecided_because = tie();
    }
    // Nothing has grown yet: there is nothing to explain or to try.
    if (!decision_.enough && verdict_.last_mb - verdict_.first_mb < kMaterialMb) return;
    // Its cause names the experiment: neither batches nor requests tell who holds an object.
    if (is_java_heap()) return;
    const bool events_open =
        weight_of(file_, Family::per_evaluation) + weight_of(file_, Family::first_events) > 0.5;
    const bool one_climb = verdict_.last_step < file_.timeline.one_climb_until;
    const Kind of_requests = one_climb ? Kind::try_less_load : Kind::try_same_requests_again;
    const Kind try_again = of_server() ? of_requests : Kind::try_same_batches_twice;
    verdict_.experiment = {events_open ? Kind::try_few_evaluations : try_again, {}, {}};
    if (one_climb) {
      verdict_.missing = {Kind::load_missing, {}, {}};
      return;
    }
    if (decision_.short_of_leak) {
      verdict_.missing = {Kind::samples_missing,
                          {{"samples", static_cast<double>(verdict_.samples)},
                           {"needed", double{kMinSamplesOfLeak}}},
                          {}};
      return;
    }
    const bool per_example_open = verdict_.last_step < file_.timeline.deadline;
    if (!per_example_open || file_.timeline.epoch_steps > 0) return;
    verdict_.missing = {Kind::steps_missing, {}, {}};
    if (of_server() && runs_without_python(file_, verdict_)) verdict_.missing = longer_run();
    if (verdict_.clock == Clock::steps) {
      verdict_.missing = {
          Kind::pass_length_missing, {{"last_step", verdict_.last_step, Unit::moment}}, {}};
    }
  }

  // A server has no steps to tell. What it has not shown yet is growth past any cache, or for long.
  [[nodiscard]] Finding longer_run() const {
    const double beyond_mb = most_of_any_cache(decision_.floors, file_.timeline.largest_cache_mb);
    return {
        Kind::longer_run_missing,
        {{"deadline", file_.timeline.deadline, Unit::moment}, {"beyond_mb", beyond_mb, Unit::mb}},
        {}};
  }

  // The likeliest of each camp, and where each would lead.
  [[nodiscard]] Finding tie() const {
    const Explanation* bounded = best(true);
    const Explanation* unbounded = best(false);
    if (bounded == nullptr || unbounded == nullptr) return {Kind::nothing_fits, {}, {}};
    Finding tied{Kind::two_camps_fit,
                 {{"rate_mb_per_step", unbounded->rate_mb_per_step, Unit::rate}},
                 {named("bounded", *bounded), named("unbounded", *unbounded)}};
    if (bounded->plateau_mb) tied.numbers.push_back({"plateau_mb", *bounded->plateau_mb, Unit::mb});
    const double rate = unbounded->rate_mb_per_step;
    if (!(rate > 0)) return tied;
    const auto reaches = [&](double mb) {
      return verdict_.last_step + std::max(0.0, mb - verdict_.last_mb) / rate;
    };
    if (verdict_.risk.limit_mb) {
      const double limit_mb = *verdict_.risk.limit_mb;
      tied.numbers.push_back({"limit_mb", limit_mb, Unit::mb});
      tied.numbers.push_back({"limit_step", reaches(limit_mb), Unit::moment});
    } else if (verdict_.last_mb > 0) {
      tied.numbers.push_back({"doubled_mb", 2 * verdict_.last_mb, Unit::mb});
      tied.numbers.push_back({"doubled_step", reaches(2 * verdict_.last_mb), Unit::moment});
    }
    return tied;
  }

  void of_creep() {
    if (!verdict_.creeps) return;
    const double rate = pooled_rate(decision_.posterior, true).mean;
    found(Kind::creeps_on,
          {{"rate_mb_per_step", rate, Unit::rate},
           {"again_mb", rate * (verdict_.last_step - verdict_.first_step), Unit::change}});
  }

  void of_epoch() {
    const double epoch = file_.timeline.epoch_steps;
    if (epoch <= 0 || verdict_.clock != Clock::steps) return;
    const NewExamples& examples = file_.timeline.new_examples;
    if (verdict_.word == Word::plateau && ended_with_epoch(file_, verdict_)) {
      found(Kind::stopped_with_first_pass, {{"epoch_steps", epoch, Unit::moment}},
            {{"source", file_.epoch_source}});
      if (verdict_.mb_per_example) {
        found(Kind::kept_per_new_example, {{"mb_per_example", *verdict_.mb_per_example, Unit::mb}});
      }
      of_halves();
    } else if (verdict_.word == Word::leak && examples.last > 0) {
      found(Kind::outlasts_new_examples,
            {{"last_new_step", examples.last, Unit::moment}, {"epoch_steps", epoch, Unit::moment}},
            {{"source", file_.epoch_source}});
    } else if (verdict_.word == Word::leak && examples.come_slower()) {
      found(Kind::outpaces_new_examples,
            {{"pace", *examples.pace, Unit::share}, {"epoch_steps", epoch, Unit::moment}},
            {{"source", file_.epoch_source}});
    } else if (verdict_.word != Word::leak && follows_new_examples(file_)) {
      verdict_.evidence.push_back(following_examples(file_));
    } else if (verdict_.last_step < epoch ||
               (verdict_.word == Word::leak && file_.count("examples") != nullptr)) {
      found(Kind::first_pass_ends, {{"epoch_steps", epoch, Unit::moment}},
            {{"source", file_.epoch_source}});
    }
  }

  // Pools slow down on their way; a per-example cache does not, and stops at the epoch.
  // Said only where the second half of the climb brought at least kAsMuch of what the first did.
  void of_halves() {
    const double end = verdict_.settled->step;
    const double at_middle = value_at((verdict_.first_step + end) / 2);
    if (value_at(end) - at_middle < kAsMuch * (at_middle - verdict_.first_mb)) return;
    found(Kind::did_not_slow, {{"first_half_mb", at_middle - verdict_.first_mb, Unit::change},
                               {"second_half_mb", value_at(end) - at_middle, Unit::change}});
  }

  // The opened series at a clock value, between samples by interpolation.
  [[nodiscard]] double value_at(double at) const {
    const std::vector<TimedValue>& points = decision_.floors.opened;
    for (size_t i = 1; i < points.size(); ++i) {
      if (points[i].at < at) continue;
      const double share = (at - points[i - 1].at) / (points[i].at - points[i - 1].at);
      return points[i - 1].mb + std::clamp(share, 0.0, 1.0) * (points[i].mb - points[i - 1].mb);
    }
    return points.back().mb;
  }

  void of_counts() {
    for (const std::string_view what : {"tensors", "objects"}) {
      const CountTrend* count = file_.count(what);
      if (count != nullptr) verdict_.evidence.push_back(finding_of(*count));
    }
  }

  [[nodiscard]] bool is_java_heap() const { return file_.component().name == kJavaHeap.name; }

  // Whoever looks at RSS sees nothing of it.
  void of_java_heap() {
    const ComponentVerdict& process = verdict_.components.front();
    if (!is_java_heap() || process.word != Word::plateau) return;
    found(Kind::grows_within_the_heap, {{"owned_mb", process.last_mb, Unit::mb}});
  }

  void of_components() {
    for (const ComponentVerdict& component : verdict_.components) {
      const double rise = component.last_mb - component.first_mb;
      if (!component.reclaimable || rise <= decision_.tolerated_mb) continue;
      found(Kind::file_pages_grew, {{"first_mb", component.first_mb, Unit::mb},
                                    {"last_mb", component.last_mb, Unit::mb},
                                    {"growth_mb", rise, Unit::mb}});
    }
  }

  void of_processes() {
    if (verdict_.processes.size() < 2) return;
    if (verdict_.process && verdict_.process->share > 0.5) {
      const ProcessGrowth& process = *verdict_.process;
      found(Kind::process_has_most,
            {{"share", process.share, Unit::share},
             {"first_mb", process.first_mb, Unit::mb},
             {"last_mb", process.last_mb, Unit::mb}},
            {{"process", process.name}});
      if (process.name.empty()) {
        verdict_.evidence.back().numbers.push_back({"id", static_cast<double>(process.id)});
      }
    } else if (!verdict_.process && verdict_.last_mb - verdict_.first_mb > decision_.tolerated_mb) {
      const auto growing = std::count_if(verdict_.processes.begin(), verdict_.processes.end(),
                                         [](const ProcessGrowth& p) { return p.growth_mb > 0; });
      if (growing > 1) {
        found(Kind::growth_is_spread, {{"processes", static_cast<double>(growing)}});
      }
    }
  }

  void of_spikes() {
    if (verdict_.spikes.count > 0) verdict_.evidence.push_back(finding_of(verdict_.spikes));
  }

  void warn() {
    const Context& context = file_.run->context;
    const auto warn_of = [this](Kind kind, std::vector<Number> numbers = {}) {
      verdict_.warnings.push_back({kind, std::move(numbers), {}});
    };
    warn_of_lives();
    if (verdict_.component == "system") warn_of(Kind::machine_memory_only);
    if (verdict_.clock == Clock::samples) warn_of(Kind::samples_are_the_clock);
    const bool steps_given = context.epoch_steps || context.examples;
    if (verdict_.clock == Clock::seconds && steps_given) warn_of(Kind::steps_given_but_not_logged);
    if (context.examples && !context.batch && !context.epoch_steps) warn_of(Kind::batch_missing);
    if (decision_.floors.pending > 0) {
      warn_of(Kind::last_samples_pending,
              {{"samples", static_cast<double>(decision_.floors.pending)}});
    }
  }

  // Memory that is taken for an hour and all gone in one sample was given back, or was that of a
  // program that died and was started again. Where a log names no process, both are one curve.
  void warn_of_falls() {
    const bool named = std::any_of(file_.run->processes.begin(), file_.run->processes.end(),
                                   [](const Process& process) { return process.id_is_pid; });
    if (!verdict_.sawtooth || named || !file_.component().primary) return;
    // A collector empties a heap as fast.
    const bool heap =
        std::any_of(file_.run->series.begin(), file_.run->series.end(), [](const Series& series) {
          return find_ignoring_case(series.label, "heap") != std::string_view::npos;
        });
    if (heap) return;
    const std::vector<TimedValue>& points = file_.shown();
    const double height_mb = verdict_.sawtooth->height_mb, first_mb = points.front().mb;
    size_t falls = 0;
    for (size_t i = 1; i < points.size(); ++i) {
      if (points[i - 1].mb - points[i].mb < kAtOnce * height_mb) continue;
      if (points[i].mb > first_mb + (1 - kAtOnce) * height_mb) return;
      ++falls;
    }
    if (falls < kRestarts || height_mb < kTimesTheStart * first_mb) return;
    const double rate = height_mb / verdict_.sawtooth->period_steps;
    verdict_.warnings.push_back(
        {Kind::falls_like_restarts,
         {{"falls", static_cast<double>(falls)}, {"rate", rate, Unit::rate}},
         {}});
  }

  void warn_of_repeated_lives() {
    const RepeatedLives& repeated = file_.repeated;
    if (repeated.alike == 0) return;
    Finding finding{Kind::lives_repeat,
                    {{"alike", static_cast<double>(repeated.alike)},
                     {"lives", static_cast<double>(repeated.lives)},
                     {"rate", repeated.rate, Unit::rate},
                     {"end_mb", repeated.end_mb, Unit::mb}},
                    {}};
    if (repeated.count_together()) {
      finding.numbers.push_back({"killed", static_cast<double>(repeated.killed)});
    }
    verdict_.warnings.push_back(std::move(finding));
  }

  void warn_of_lives() {
    if (!verdict_.ended.empty()) {
      double processes = 0, mb = 0;
      for (const EndedProcesses& ended : verdict_.ended) {
        processes += static_cast<double>(ended.processes);
        mb += ended.mb;
      }
      const Kind kind = !file_.until_ended.empty()       ? Kind::judged_until_ended
                        : verdict_.only_survivors_judged ? Kind::survivors_judged
                                                         : Kind::processes_ended;
      const double last = verdict_.ended.back().step;
      Finding finding{kind,
                      {{"processes", processes},
                       {"ended_step", last, Unit::moment},
                       {"ended_mb", mb, Unit::mb}},
                      {}};
      const double first = verdict_.ended.front().step;
      if (first < last) finding.numbers.push_back({"first_ended_step", first, Unit::moment});
      verdict_.warnings.push_back(std::move(finding));
    }
    warn_of_repeated_lives();
    if (verdict_.lives.empty()) return warn_of_falls();
    Finding finding{
        Kind::one_life_judged, {{"lives", static_cast<double>(verdict_.lives.size())}}, {}};
    std::vector<double> growths;
    for (const JobLife& life : verdict_.lives) {
      const double growth = life.last_mb - life.first_mb;
      if (growth > decision_.material_mb && file_.repeated.alike == 0) growths.push_back(growth);
      if (!life.judged) continue;
      finding.numbers.push_back({"from_step", life.from_step, Unit::moment});
      finding.numbers.push_back({"to_step", life.to_step, Unit::moment});
    }
    if (!growths.empty()) {
      finding.numbers.push_back({"grown", static_cast<double>(growths.size())});
      finding.numbers.push_back({"growth_mb", upper_median(growths), Unit::change});
    }
    verdict_.warnings.push_back(std::move(finding));
  }

  const CaseFile& file_;
  const Decision& decision_;
  Verdict& verdict_;
};

}  // namespace

Finding finding_of(const CountTrend& count) {
  if (!count.rising) {
    return {Kind::objects_steady, {{"last", count.last}}, {{"counted", count.name}}};
  }
  return {Kind::objects_accumulate,
          {{"first", count.first}, {"last", count.last}},
          {{"counted", count.name}}};
}

Finding finding_of(const Verdict::Spikes& spikes) {
  Finding finding{Kind::spikes_over_floor,
                  {{"spikes", static_cast<double>(spikes.count)},
                   {"height_mb", spikes.height_mb, Unit::mb},
                   {"max_mb", spikes.max_mb, Unit::mb}},
                  {}};
  if (spikes.period_steps) {
    finding.numbers.push_back({"period_steps", *spikes.period_steps, Unit::length});
  }
  if (!spikes.at_events.empty()) finding.names = {{"events", std::string(spikes.at_events)}};
  return finding;
}

void gather_evidence(const CaseFile& file, Verdict& verdict) {
  Gatherer(file, verdict).gather();
}

}  // namespace plateau
