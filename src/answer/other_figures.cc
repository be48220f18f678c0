// SPDX-License-Identifier: Apache-2.0
#include "answer/other_figures.h"

#include <algorithm>

#include "recording/other_figures.h"
#include "recording/run_frame.h"
#include "verdict/verdict.h"

namespace plateau {
namespace {

// The run as if that figure were its memory. Its instants are those that have it.
Run run_of(const Run& run, const Gauge& figure) {
  Run alone = frame_of(run);
  alone.processes.push_back({});
  alone.series.push_back({0, Metric::memory, figure.name, figure.value});
  alone.series.back().mb.resize(run.instants.size(), kMissing);
  return alone;
}

std::string judged_name(const Run& run) {
  return run.series.empty() ? std::string() : run.series.front().label;
}

// How likely the figure, taken alone, grows without end: what is called a leak, and what has grown
// and is only not called one yet.
double likely_leak(const Verdict& alone) {
  constexpr double kLikelier = 0.5;
  constexpr double kGrown = 1.25;
  if (alone.word == Word::leak) return alone.confidence;
  if (alone.word != Word::undecided || alone.last_mb < kGrown * alone.first_mb) return 0;
  double without_end = 0;
  for (const Explanation& explanation : alone.explanations) {
    without_end += explanation.bounded ? 0 : explanation.weight;
  }
  return without_end > kLikelier ? without_end : 0;
}

Finding finding_of(const Run& run, const Gauge& figure, const Verdict& leak) {
  Finding found{FindingKind::other_figure_leaks,
                {{"rate_mb_per_step", leak.rate_mb_per_step, Unit::rate},
                 {"first_mb", leak.first_mb, Unit::mb},
                 {"last_mb", leak.last_mb, Unit::mb}},
                {{"name", figure.name.substr(kOtherFigure.size())}}};
  if (const std::string judged = judged_name(run); !judged.empty()) {
    found.names.push_back({"judged", judged});
  }
  return found;
}

}  // namespace

void judge_other_figures(const Run& run, const Policy& policy, Judged& judged) {
  Verdict& verdict = judged.verdict;
  if (verdict.word != Word::plateau && verdict.word != Word::warming) return;
  double surest = 0;
  Finding found;
  for (const Gauge& figure : run.gauges) {
    if (!figure.name.starts_with(kOtherFigure)) continue;
    const Verdict other = judge(run_of(run, figure), policy);
    const double likely = likely_leak(other);
    if (likely <= surest) continue;
    surest = likely;
    found = finding_of(run, figure, other);
  }
  if (!found) return;
  const Name* name = found.named("name");
  verdict.missing = {FindingKind::memory_name_missing, {}, {*name}};
  verdict.undecided_because = std::move(found);
  verdict.word = Word::undecided;
  verdict.confidence = std::min(verdict.confidence, 1 - surest);
  verdict.settled.reset();
  verdict.forecast.reset();
  verdict.creeps = false;
}

}  // namespace plateau
