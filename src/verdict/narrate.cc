// SPDX-License-Identifier: Apache-2.0
#include "verdict/narrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "verdict/explanations.h"

namespace plateau {
namespace {

class Narrator {
 public:
  Narrator(const CaseFile& file, Verdict& verdict)
      : file_(file), decision_(file.decision()), verdict_(verdict) {}

  void tell() {
    headline();
    switch (verdict_.word) {
      case Word::plateau:
        tell_plateau();
        break;
      case Word::warming:
        tell_warming();
        break;
      case Word::leak:
        tell_leak();
        break;
      case Word::undecided:
        tell_undecided();
        break;
    }
    tell_epoch();
    tell_counts();
    tell_components();
    tell_excursions();
    warn();
  }

 private:
  void say(std::string sentence) { verdict_.evidence.push_back(std::move(sentence)); }
  [[nodiscard]] std::string at(double clock) const { return clock_words(verdict_.clock, clock); }
  [[nodiscard]] std::string rate(double mb) const {
    return fmt::format("{} {}", format_mb_signed(mb), per_clock_words(verdict_.clock));
  }
  [[nodiscard]] const Explanation* best(bool bounded) const {
    for (const Explanation& e : verdict_.explanations) {
      if (e.bounded == bounded) return &e;
    }
    return nullptr;
  }
  [[nodiscard]] bool rose() const {
    return verdict_.settled && verdict_.settled->mb - verdict_.first_mb > decision_.tolerated_mb;
  }

  [[nodiscard]] bool rises() const {
    return verdict_.last_mb - verdict_.first_mb > decision_.tolerated_mb;
  }

  void headline() {
    switch (verdict_.word) {
      case Word::plateau:
        verdict_.headline = "no leak";
        break;
      case Word::warming:
        verdict_.headline = "no leak: growth that will end";
        break;
      case Word::leak:
        verdict_.headline = "growth that nothing bounded explains";
        break;
      case Word::undecided:
        verdict_.headline = "the evidence does not decide yet";
        break;
    }
  }

  void tell_plateau() {
    if (rose()) {
      say(fmt::format("Grew {} → {} between {} and {} ({}), level since: {} to {}.",
                      format_mb(verdict_.first_mb), format_mb(verdict_.settled->range.high),
                      at(verdict_.first_step), at(verdict_.settled->step),
                      rate(verdict_.rate_mb_per_step), format_mb(verdict_.settled->range.low),
                      format_mb(verdict_.settled->range.high)));
    } else {
      say(fmt::format("Level all along: {} to {} from {} to {}.",
                      format_mb(verdict_.settled->range.low),
                      format_mb(verdict_.settled->range.high), at(verdict_.first_step),
                      at(verdict_.last_step)));
    }
    if (rose() && file_.timeline.epoch_steps <= 0 && verdict_.clock == Clock::steps) {
      verdict_.missing = fmt::format(
          "if one pass over the data ends near {}, this is a per-example cache: --examples and "
          "--batch would tell",
          at(verdict_.settled->step));
    }
    say(fmt::format("Growth left, if any, is below {}.", rate(decision_.tolerated_rate)));
  }

  void tell_warming() {
    say(fmt::format("Grows by {} now, and slows down: {}.", rate(verdict_.current_rate_mb_per_step),
                    best(true) ? best(true)->words : "every likely explanation ends"));
    if (verdict_.forecast) {
      say(fmt::format(
          "It should level near {} ({} to {}).", format_mb(verdict_.forecast->plateau_mb),
          format_mb(verdict_.forecast->range.low), format_mb(verdict_.forecast->range.high)));
    }
  }

  void tell_leak() {
    say(fmt::format("The floor rises by {} ({} to {}), from {} to {}, and still does at {}.",
                    rate(verdict_.rate_mb_per_step), format_mb(verdict_.rate_range.low),
                    format_mb(verdict_.rate_range.high), format_mb(verdict_.first_mb),
                    format_mb(verdict_.last_mb), at(verdict_.last_step)));
    const Explanation* bounded = best(true);
    if (bounded == nullptr || bounded->weight < 1e-4) {
      say("No bounded explanation keeps even 0.01 % of the weight.");
    } else {
      say(fmt::format("The best bounded explanation, {}, has {:.2g} % of the weight.",
                      bounded->words, 100 * bounded->weight));
    }
    const Explanation* unbounded = best(false);
    if (unbounded != nullptr) say(fmt::format("What fits: {}.", unbounded->words));
    verdict_.experiment = leak_experiment();
  }

  [[nodiscard]] std::string leak_experiment() const {
    if (weight_of(file_, Family::per_evaluation) > 0.5) {
      return "run five evaluations in a row: five equal steps up prove it";
    }
    if (weight_of(file_, Family::per_checkpoint) > 0.5) {
      return "save five times in a row: five equal steps up prove it";
    }
    return "run the same 20 batches over and over: a leak goes on growing, a bounded cache does "
           "not";
  }

  void tell_undecided() {
    if (decision_.posterior.fits.empty() || !decision_.enough) {
      verdict_.undecided_because =
          fmt::format("{} sample{}: too few for any curve; at least {} are needed",
                      verdict_.samples, verdict_.samples == 1 ? "" : "s", kMinSamples);
    } else {
      verdict_.undecided_because = tie();
    }
    // Nothing has grown yet: there is nothing to explain or to try.
    if (!decision_.enough && verdict_.last_mb - verdict_.first_mb < kMaterialMb) return;
    const bool per_example_open = verdict_.last_step < file_.timeline.deadline;
    verdict_.experiment =
        weight_of(file_, Family::per_evaluation) + weight_of(file_, Family::first_events) > 0.5
            ? "run three evaluations in a row: growth at each is a leak, growth at the first only "
              "is not"
            : "run the same 20 batches twice: a per-example cache does not grow on the second "
              "pass, a leak does";
    if (!per_example_open || file_.timeline.epoch_steps > 0) return;
    verdict_.missing =
        verdict_.clock == Clock::steps
            ? "the length of the first pass over the data: give --examples and --batch, or "
              "--epoch-steps. If it ends after " +
                  at(verdict_.last_step) + ", a cache that fills until then explains the growth"
            : "steps: the log has times only, and growth follows work. Log the step, or give the "
              "tool a log that has it";
  }

  [[nodiscard]] std::string outcome(const Explanation& e) const {
    if (e.bounded) {
      return e.plateau_mb ? fmt::format(" (would level near {})", format_mb(*e.plateau_mb)) : "";
    }
    std::string text = " (" + rate(e.rate_mb_per_step);
    if (verdict_.risk.limit_mb && e.rate_mb_per_step > 0) {
      const double missing = *verdict_.risk.limit_mb - verdict_.last_mb;
      text += fmt::format("; reaches {} at {}", format_mb(*verdict_.risk.limit_mb),
                          at(verdict_.last_step + std::max(0.0, missing) / e.rate_mb_per_step));
    } else if (e.rate_mb_per_step > 0 && verdict_.last_mb > 0) {
      text += fmt::format("; doubles to {} at {}", format_mb(2 * verdict_.last_mb),
                          at(verdict_.last_step + verdict_.last_mb / e.rate_mb_per_step));
    }
    return text + ")";
  }

  [[nodiscard]] std::string tie() const {
    const Explanation* bounded = best(true);
    const Explanation* unbounded = best(false);
    if (bounded == nullptr || unbounded == nullptr) return "no explanation fits well";
    return bounded->words + outcome(*bounded) + " against " + unbounded->words +
           outcome(*unbounded);
  }

  void tell_epoch() {
    const double epoch = file_.timeline.epoch_steps;
    if (epoch <= 0 || verdict_.clock != Clock::steps) return;
    if (verdict_.word == Word::plateau && ended_with_epoch(file_, verdict_)) {
      say(fmt::format("Growth stopped where the first pass over the data ended: {} = {}.",
                      file_.epoch_source, at(epoch)));
      if (verdict_.mb_per_example) {
        say(fmt::format("{} stay in memory per example seen for the first time.",
                        format_mb(*verdict_.mb_per_example)));
      }
      say(not_allocator());
    } else if (verdict_.last_step < epoch) {
      say(fmt::format("The first pass over the data ends at {} ({}).", at(epoch),
                      file_.epoch_source));
    }
  }

  // Pools slow down on their way; a per-example cache does not, and stops at the epoch.
  [[nodiscard]] std::string not_allocator() const {
    const Floors& floors = decision_.floors;
    const double end = verdict_.settled->step;
    const double at_end = value_at(floors, end);
    const double at_middle = value_at(floors, (verdict_.first_step + end) / 2);
    return fmt::format(
        "Not allocator warm-up: growth did not slow before it stopped ({} in its first half, {} in "
        "its second).",
        format_mb_signed(at_middle - verdict_.first_mb), format_mb_signed(at_end - at_middle));
  }

  // The opened series at a clock value, between samples by interpolation.
  static double value_at(const Floors& floors, double at) {
    const std::vector<TimedValue>& points = floors.opened;
    for (size_t i = 1; i < points.size(); ++i) {
      if (points[i].at < at) continue;
      const double share = (at - points[i - 1].at) / (points[i].at - points[i - 1].at);
      return points[i - 1].mb + std::clamp(share, 0.0, 1.0) * (points[i].mb - points[i - 1].mb);
    }
    return points.back().mb;
  }

  void tell_counts() {
    for (const std::string_view what : {"tensors", "objects"}) {
      const CountTrend* count = file_.count(what);
      if (count == nullptr) continue;
      if (count->rising) {
        say(fmt::format("Objects accumulate: {} {} → {}.", count->name,
                        format_count(std::llround(count->first)),
                        format_count(std::llround(count->last))));
      } else {
        say(fmt::format("Not objects: {} {}, steady.", count->name,
                        format_count(std::llround(count->last))));
      }
    }
  }

  void tell_components() {
    for (const ComponentVerdict& component : verdict_.components) {
      const double rise = component.last_mb - component.first_mb;
      if (!component.reclaimable || rise <= decision_.tolerated_mb) continue;
      say(
          fmt::format("File-backed pages grew by {}: the kernel takes them back when memory is "
                      "short, so they are no leak.",
                      format_mb(rise)));
    }
    if (verdict_.processes.size() > 1 && verdict_.process && verdict_.process->share > 0.5) {
      const ProcessGrowth& p = *verdict_.process;
      say(fmt::format("{} has {:.0f} % of the growth: {} → {}.",
                      p.name.empty() ? fmt::format("Process {}", p.id) : p.name, 100 * p.share,
                      format_mb(p.first_mb), format_mb(p.last_mb)));
    } else if (verdict_.processes.size() > 1 && !verdict_.process && rises()) {
      const auto growing = std::count_if(verdict_.processes.begin(), verdict_.processes.end(),
                                         [](const ProcessGrowth& p) { return p.growth_mb > 0; });
      if (growing > 1) say(fmt::format("The growth is spread over {} processes.", growing));
    }
  }

  void tell_excursions() {
    if (verdict_.spikes.count > 0) {
      say(fmt::format("{} spike{} of about {} over the floor{}; peak {}.", verdict_.spikes.count,
                      verdict_.spikes.count == 1 ? "" : "s", format_mb(verdict_.spikes.height_mb),
                      verdict_.spikes.clock.empty() ? "" : " (" + verdict_.spikes.clock + ")",
                      format_mb(verdict_.spikes.max_mb)));
    }
  }

  void warn() {
    const Run& run = *file_.run;
    if (verdict_.clock == Clock::samples) {
      verdict_.warnings.push_back("the log has neither steps nor times; samples are counted");
    }
    const bool steps_given = run.context.epoch_steps || run.context.examples;
    if (verdict_.clock == Clock::seconds && steps_given) {
      verdict_.warnings.push_back(
          "the log has no steps, so --examples, --batch and --epoch-steps cannot be used");
    }
    if (run.context.examples && !run.context.batch && !run.context.epoch_steps) {
      verdict_.warnings.push_back(
          "the number of examples is known but not the batch: give --batch");
    }
    if (decision_.floors.pending > 0) {
      verdict_.warnings.push_back(
          fmt::format("the last {} sample{} may be a spike or a step and {} not counted yet",
                      decision_.floors.pending, decision_.floors.pending == 1 ? "" : "s",
                      decision_.floors.pending == 1 ? "is" : "are"));
    }
  }

  const CaseFile& file_;
  const Decision& decision_;
  Verdict& verdict_;
};

}  // namespace

void narrate(const CaseFile& file, Verdict& verdict) {
  Narrator(file, verdict).tell();
}

}  // namespace plateau
