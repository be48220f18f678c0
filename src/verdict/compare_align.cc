// SPDX-License-Identifier: Apache-2.0
#include "verdict/compare_align.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/units.h"
#include "recording/facts.h"
#include "verdict/signal.h"

namespace plateau {
namespace {

// Runs that end within this share of the span end together.
constexpr double kSameEnd = 0.02;
// Starts, epochs and sampling that differ by more than this are worth a word.
constexpr double kLateStart = 0.1;
constexpr double kOtherEpoch = 0.05;
constexpr double kOtherDensity = 2.0;

bool has_metric(const Run& run, Metric metric) {
  return std::any_of(run.series.begin(), run.series.end(),
                     [metric](const Series& series) { return series.metric == metric; });
}

template <typename Check>
bool all_runs(const Alignment& of, Check check) {
  return std::all_of(of.before.begin(), of.before.end(), check) &&
         std::all_of(of.after.begin(), of.after.end(), check);
}

template <typename Do>
void each_run(Alignment& of, Do act) {
  for (Run& run : of.before) act(run);
  for (Run& run : of.after) act(run);
}

// Takes the steps out of every instant, and the facts that count in them.
void forget_steps(Run& run) {
  for (Instant& instant : run.instants) instant.step = -1;
  run.context.epoch_steps.reset();
  run.context.examples.reset();
  run.context.total_steps.reset();
}

void forget_times(Run& run) {
  for (Instant& instant : run.instants) instant.time_s = kMissing;
}

class Aligner {
 public:
  Aligner(std::string_view before_name, std::string_view after_name, Alignment& out)
      : before_name_(before_name), after_name_(after_name), out_(out) {}

  void align() {
    choose_clock();
    choose_measure();
    const bool sampled = all_runs(out_, [](const Run& run) { return !run.instants.empty(); });
    if (sampled) find_span();
    note_epochs();
    if (out_.to > out_.from) note_density();
  }

 private:
  void warn(std::string text) { out_.warnings.push_back(std::move(text)); }

  void choose_clock() {
    const bool steps = all_runs(out_, [](const Run& run) { return run.has_steps(); });
    const bool times = all_runs(out_, [](const Run& run) { return run.has_times(); });
    if (steps) {
      out_.clock = Clock::steps;
      return;
    }
    const bool some_steps = !all_runs(out_, [](const Run& run) { return !run.has_steps(); });
    const bool some_times = !all_runs(out_, [](const Run& run) { return !run.has_times(); });
    each_run(out_, forget_steps);
    if (times) {
      out_.clock = Clock::seconds;
      if (some_steps) warn("not every log has steps: compared over seconds since the start.");
      return;
    }
    each_run(out_, forget_times);
    out_.clock = Clock::samples;
    const std::string_view why =
        some_steps || some_times ? "the logs share neither steps nor times" : "no steps, no times";
    warn(fmt::format(
        "{}: compared sample by sample, which is fair only if both were sampled alike.", why));
  }

  // What the owned memory of a side is made of, without the number of processes.
  static std::string measure_of(const std::vector<Run>& runs) {
    for (const Run& run : runs) {
      const Signals signals = extract_signals(run);
      if (signals.components.empty()) continue;
      const std::string& measure = signals.components.front().measure;
      return measure.substr(0, measure.find(", summed"));
    }
    return "";
  }

  void choose_measure() {
    const std::string before = measure_of(out_.before);
    const std::string after = measure_of(out_.after);
    if (before != after) use_common_measure(before, after);
    note_processes();
  }

  void use_common_measure(const std::string& before, const std::string& after) {
    const auto is_common = [this](Metric metric) {
      return all_runs(out_, [metric](const Run& run) { return has_metric(run, metric); });
    };
    const auto& ladder = kOwnedPages.ladder;
    const bool any_common = std::any_of(ladder.begin(), ladder.end(),
                                        [&](const Rung& rung) { return is_common(rung.metric); });
    if (!any_common) {
      const auto plain = [](const std::string& measure) {
        return measure == "RSS" || measure == "memory as logged";
      };
      out_.levels_comparable = plain(before) && plain(after);
      warn(fmt::format("{} logs {}, {} logs {}{}.", before_name_, before, after_name_, after,
                       out_.levels_comparable ? ": taken as the same"
                                              : ": levels are not compared, only growth"));
      return;
    }
    std::array<bool, kMetricCount> one_sided = {};
    for (const Rung& rung : ladder) {
      for (const Metric metric : {rung.metric, rung.plus.value_or(rung.metric)}) {
        one_sided[static_cast<size_t>(metric)] = !is_common(metric);
      }
    }
    each_run(out_, [&](Run& run) {
      std::erase_if(run.series, [&](const Series& series) {
        return one_sided[static_cast<size_t>(series.metric)];
      });
    });
    warn(fmt::format("{} logs {}, {} logs {}: compared on {}, which both have.", before_name_,
                     before, after_name_, after, measure_of(out_.before)));
  }

  void note_processes() {
    const auto most = [](const std::vector<Run>& runs) {
      size_t count = 0;
      for (const Run& run : runs) count = std::max(count, run.processes.size());
      return count;
    };
    const size_t before = most(out_.before);
    const size_t after = most(out_.after);
    if ((before > 1) == (after > 1)) return;
    warn(fmt::format("{} logs {} process{}, {} logs {}: the sums may not hold the same processes.",
                     before_name_, before, before == 1 ? "" : "es", after_name_, after));
  }

  // First and last clock value of a run.
  static Interval span_of(const Run& run) {
    const Signals signals = extract_signals(run);
    const auto [low, high] =
        std::minmax_element(signals.clock_of_instant.begin(), signals.clock_of_instant.end());
    return {*low, *high};
  }

  void find_span() {
    out_.from = -HUGE_VAL;
    out_.to = HUGE_VAL;
    double earliest = HUGE_VAL;
    each_run(out_, [&](const Run& run) {
      const Interval span = span_of(run);
      out_.from = std::max(out_.from, span.low);
      out_.to = std::min(out_.to, span.high);
      earliest = std::min(earliest, span.low);
    });
    if (!(out_.to > out_.from)) {
      out_.to = out_.from;
      out_.levels_comparable = false;
      warn("the runs have no span in common: only their verdicts are compared.");
      return;
    }
    if (out_.from - earliest > kLateStart * (out_.to - earliest)) {
      warn(
          fmt::format("the runs do not start at the same point: only one of them has the first {}.",
                      words_for(out_.from - earliest)));
    }
    each_run(out_, [&](Run& run) { cut(run); });
  }

  void cut(Run& run) {
    const double slack = kSameEnd * (out_.to - out_.from);
    const Signals signals = extract_signals(run);
    const std::vector<double>& clock = signals.clock_of_instant;
    const auto end =
        std::find_if(clock.begin(), clock.end(), [&](double at) { return at > out_.to + slack; });
    if (end == clock.end()) return;
    run = prefix_of(run, static_cast<size_t>(end - clock.begin()));
  }

  [[nodiscard]] std::string words_for(double length) const {
    if (out_.clock == Clock::seconds) return format_seconds(length);
    return fmt::format("{} {}s", format_count(std::llround(length)), clock_unit(out_.clock));
  }

  void note_epochs() {
    const std::optional<double> before = epoch_steps_of(out_.before.front().context);
    const std::optional<double> after = epoch_steps_of(out_.after.front().context);
    if (!before || !after || std::fabs(*before - *after) <= kOtherEpoch * *before) return;
    warn(
        fmt::format("an epoch is {} steps in {} and {} in {}: at the same step they have seen "
                    "different shares of the data.",
                    format_count(std::llround(*before)), before_name_,
                    format_count(std::llround(*after)), after_name_));
  }

  void note_density() {
    const auto samples = [](const std::vector<Run>& runs) {
      size_t count = 0;
      for (const Run& run : runs) count += run.instants.size();
      return static_cast<double>(count) / static_cast<double>(runs.size());
    };
    const double ratio = samples(out_.after) / samples(out_.before);
    if (ratio <= kOtherDensity && ratio >= 1 / kOtherDensity) return;
    warn(
        fmt::format("{} has {:.1f} times as many samples as {} over the same span: it sees more "
                    "of the spikes.",
                    ratio > 1 ? after_name_ : before_name_, std::max(ratio, 1 / ratio),
                    ratio > 1 ? before_name_ : after_name_));
  }

  std::string_view before_name_;
  std::string_view after_name_;
  Alignment& out_;
};

}  // namespace

Alignment align(std::span<const Run> before, std::string_view before_name,
                std::span<const Run> after, std::string_view after_name) {
  Alignment out;
  out.before.assign(before.begin(), before.end());
  out.after.assign(after.begin(), after.end());
  Aligner(before_name, after_name, out).align();
  return out;
}

}  // namespace plateau
