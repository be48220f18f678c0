// SPDX-License-Identifier: Apache-2.0
#include "fleet/closeup.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "fleet/evidence.h"
#include "report/terminal.h"
#include "share/svg_chart.h"
#include "verdict/verdict.h"

namespace plateau::fleet {
namespace {

constexpr size_t kColumns = 100;

// With the limit, for when it is reached. Growth that is much beside a limit may be called a leak
// sooner; the round judged without it, and its word stays.
Verdict verdict_of(const Closeup& closeup) {
  Run run = run_under_load(closeup.judged, closeup.load);
  Verdict verdict = judge(run);
  if (!closeup.judged.limit_mb) return verdict;
  run.context.limit_mb = Fact{*closeup.judged.limit_mb, "the database"};
  Verdict limited = judge(run);
  return limited.word == verdict.word ? limited : verdict;
}

}  // namespace

void keep_closeup(JudgedSeries judged, KnownLoad load, SeriesVerdict& verdict) {
  if (!is_suspect(verdict) && !is_killed(verdict)) return;
  verdict.closeup = std::make_shared<const Closeup>(
      Closeup{.judged = std::move(judged), .load = std::move(load)});
}

void keep_surest_closeups(std::vector<SeriesVerdict>& verdicts, size_t most) {
  std::vector<SeriesVerdict*> with;
  for (SeriesVerdict& verdict : verdicts) {
    if (verdict.closeup) with.push_back(&verdict);
  }
  if (with.size() <= most) return;
  std::stable_sort(with.begin(), with.end(), [](const SeriesVerdict* a, const SeriesVerdict* b) {
    return a->log_factor > b->log_factor;
  });
  for (size_t i = most; i < with.size(); ++i) with[i]->closeup.reset();
}

CloseReport report_of(const Closeup& closeup) {
  Verdict verdict = verdict_of(closeup);
  verdict.file = closeup.judged.name.member;
  const View view{.width = kColumns, .color = false, .utf8 = true, .plot = false};
  return {verdict.word, svg_chart(verdict), render_verdict(verdict, view)};
}

}  // namespace plateau::fleet
