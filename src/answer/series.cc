// SPDX-License-Identifier: Apache-2.0
#include "answer/series.h"

#include <algorithm>

namespace plateau {
namespace {

constexpr size_t kMostSeries = 256;

bool is_of_series(const Run& run) {
  if (run.processes.size() < 2 || run.processes.size() > kMostSeries) return false;
  return std::none_of(run.processes.begin(), run.processes.end(), [](const Process& process) {
    return process.id_is_pid || process.parent >= 0 || process.name.empty();
  });
}

// The run as if there were nothing but its process number `at`.
Run alone(const Run& run, size_t at) {
  Run one = run;
  one.heaps.clear();
  one.processes = {run.processes[at]};
  std::erase_if(one.series, [at](const Series& series) { return series.process != at; });
  std::erase_if(one.gauges, [at](const Gauge& gauge) { return gauge.process != at; });
  for (Series& series : one.series) series.process = 0;
  for (Gauge& gauge : one.gauges) gauge.process = 0;
  return one;
}

struct Tally {
  size_t leaks = 0;
  size_t open = 0;
  size_t level = 0;
  size_t leak = 0;  // The surest one's place.
  double confidence = -1;
};

Finding finding_of(const Run& run, const Tally& tally) {
  const std::vector<Number> numbers = {{"series", static_cast<double>(run.processes.size())},
                                       {"leaks", static_cast<double>(tally.leaks)},
                                       {"level", static_cast<double>(tally.level)},
                                       {"open", static_cast<double>(tally.open)}};
  const bool odd = tally.leaks == 1 && tally.open == 0 && tally.level > 0;
  if (!odd) return {FindingKind::series_apart, numbers, {}};
  return {FindingKind::series_odd, numbers, {{"name", run.processes[tally.leak].name}}};
}

}  // namespace

void judge_series(const Run& run, const Policy& policy, Judged& judged) {
  if (!is_of_series(run)) return;
  Tally tally;
  std::vector<Judged> each;
  each.reserve(run.processes.size());
  for (size_t i = 0; i < run.processes.size(); ++i) {
    each.push_back(judge_ahead(alone(run, i), policy));
    const Verdict& verdict = each.back().verdict;
    for (ProcessGrowth& process : judged.verdict.processes) {
      if (process.id != run.processes[i].id) continue;
      process.alone = ProcessGrowth::Alone{verdict.word, verdict.confidence};
    }
    tally.open += verdict.word == Word::undecided ? 1 : 0;
    tally.level += verdict.word == Word::plateau || verdict.word == Word::warming ? 1 : 0;
    if (verdict.word != Word::leak) continue;
    ++tally.leaks;
    if (verdict.confidence <= tally.confidence) continue;
    tally.confidence = verdict.confidence;
    tally.leak = i;
  }
  Finding finding = finding_of(run, tally);
  const bool hidden = tally.leaks > 0 && judged.verdict.word != Word::leak;
  if (hidden) {
    std::vector<ProcessGrowth> processes = std::move(judged.verdict.processes);
    judged = std::move(each[tally.leak]);
    judged.verdict.processes = std::move(processes);
    judged.verdict.warnings.push_back({FindingKind::one_series_judged,
                                       finding.numbers,
                                       {{"name", run.processes[tally.leak].name}}});
  }
  judged.verdict.evidence.insert(judged.verdict.evidence.begin(), std::move(finding));
}

}  // namespace plateau
