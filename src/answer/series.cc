// SPDX-License-Identifier: Apache-2.0
#include "answer/series.h"

#include <algorithm>

#include "recording/run_frame.h"

namespace plateau {
namespace {

constexpr size_t kMostSeries = 256;

bool is_of_series(const Run& run) {
  if (run.processes.size() < 2 || run.processes.size() > kMostSeries) return false;
  return std::none_of(run.processes.begin(), run.processes.end(), [](const Process& process) {
    return process.id_is_pid || process.parent >= 0 || process.name.empty() || process.rank >= 0;
  });
}

std::vector<Number> numbers_of(const Tally& tally) {
  return {{"series", static_cast<double>(tally.series)},
          {"leaks", static_cast<double>(tally.leaks)},
          {"level", static_cast<double>(tally.level)},
          {"open", static_cast<double>(tally.open)}};
}

}  // namespace

Run part_of(const Run& run, const std::vector<size_t>& processes) {
  Run part = frame_of(run);
  std::vector<size_t> place(run.processes.size(), run.processes.size());
  part.processes.reserve(processes.size());
  for (const size_t process : processes) {
    place[process] = part.processes.size();
    part.processes.push_back(run.processes[process]);
  }
  for (const Series& series : run.series) {
    if (place[series.process] == run.processes.size()) continue;
    part.series.push_back(series);
    part.series.back().process = place[series.process];
  }
  for (const Gauge& gauge : run.gauges) {
    if (place[gauge.process] == run.processes.size()) continue;
    part.gauges.push_back(gauge);
    part.gauges.back().process = place[gauge.process];
  }
  return part;
}

Tally tally_of(std::span<const Judged> each, std::optional<size_t> left_out) {
  Tally tally;
  double confidence = -1;
  for (size_t i = 0; i < each.size(); ++i) {
    if (i == left_out) continue;
    const Verdict& verdict = each[i].verdict;
    ++tally.series;
    tally.open += verdict.word == Word::undecided ? 1 : 0;
    tally.level += verdict.word == Word::plateau || verdict.word == Word::warming ? 1 : 0;
    if (verdict.word != Word::leak) continue;
    ++tally.leaks;
    if (verdict.confidence <= confidence) continue;
    confidence = verdict.confidence;
    tally.surest = i;
  }
  return tally;
}

Finding finding_of(const Tally& tally, std::span<const RankPart> parts) {
  if (!tally.has_odd_one()) return {FindingKind::series_apart, numbers_of(tally), {}};
  return {FindingKind::series_odd, numbers_of(tally), {{"name", parts[tally.surest].name}}};
}

void take_hidden_leak(const Tally& tally, std::span<const RankPart> parts,
                      std::vector<Judged>& each, Judged& all) {
  if (tally.leaks == 0 || all.verdict.word == Word::leak) return;
  std::vector<ProcessGrowth> processes = std::move(all.verdict.processes);
  std::vector<Finding> warnings = std::move(all.verdict.warnings);
  all = each[tally.surest];
  all.verdict.processes = std::move(processes);
  for (Finding& warning : warnings) {
    const auto same = [&warning](const Finding& other) { return other.kind == warning.kind; };
    if (std::ranges::none_of(all.verdict.warnings, same)) {
      all.verdict.warnings.push_back(std::move(warning));
    }
  }
  all.verdict.warnings.push_back(
      {FindingKind::one_series_judged, numbers_of(tally), {{"name", parts[tally.surest].name}}});
}

void judge_series(const Run& run, const Policy& policy, Judged& judged) {
  if (!is_of_series(run)) return;
  std::vector<RankPart> parts;
  std::vector<Judged> each;
  parts.reserve(run.processes.size());
  each.reserve(run.processes.size());
  for (size_t i = 0; i < run.processes.size(); ++i) {
    parts.push_back({run.processes[i].name, {i}});
    each.push_back(judge_ahead(part_of(run, {i}), policy));
    const Verdict& verdict = each.back().verdict;
    for (ProcessGrowth& process : judged.verdict.processes) {
      if (process.id != run.processes[i].id) continue;
      process.alone = ProcessGrowth::Alone{verdict.word, verdict.confidence};
    }
  }
  const Tally tally = tally_of(each);
  take_hidden_leak(tally, parts, each, judged);
  judged.verdict.evidence.insert(judged.verdict.evidence.begin(), finding_of(tally, parts));
}

}  // namespace plateau
