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
    if (other.word != Word::leak || other.confidence <= surest) continue;
    surest = other.confidence;
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
