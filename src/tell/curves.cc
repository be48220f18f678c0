// SPDX-License-Identifier: Apache-2.0
#include "tell/curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "recording/pages.h"
#include "report/printable.h"
#include "words/phrases.h"
#include "words/verdict_words.h"

namespace plateau {
namespace {

constexpr std::string_view kMemory = "memory/";
constexpr std::string_view kOwned = "memory/owned_mb";
constexpr double kFallShare = 0.1;  // As the verdict has it (verdict/signal.cc).

void add(Curves& curves, std::string name, double value) {
  if (std::isfinite(value)) curves.emplace_back(std::move(name), value);
}

// Owned memory of each role, and of all.
void add_memory(Curves& curves, const Snapshot& snapshot) {
  std::map<std::string_view, double> of_role;
  double all = 0;
  for (const ProcessSample& process : snapshot.processes) {
    const double mb = amount_mb(kPageKinds.front(), process);
    if (std::isnan(mb)) continue;
    of_role[role_name(process.role)] += mb;
    all += mb;
  }
  if (of_role.empty()) return;
  add(curves, std::string(kOwned), all);
  for (const auto& [role, mb] : of_role) add(curves, fmt::format("{}{}_mb", kMemory, role), mb);
  double gpu = 0;
  for (const ProcessSample& process : snapshot.processes) {
    if (process.gpu_kb != kUnread) gpu += mb_of_kb(process.gpu_kb);
  }
  if (gpu > 0) add(curves, "memory/gpu_mb", gpu);
}

void add_verdict(Curves& curves, const Verdict& verdict) {
  for (auto point = verdict.plot.rbegin(); point != verdict.plot.rend(); ++point) {
    if (point->spike) continue;
    add(curves, "plateau/floor_mb", point->mb);
    break;
  }
  add(curves, "plateau/verdict", height_of(verdict.word));
  add(curves, "plateau/confidence", verdict.confidence);
  const char* per = verdict.clock == Clock::steps ? "step" : "second";
  if (verdict.clock != Clock::samples) {
    add(curves, fmt::format("plateau/mb_per_{}", per), verdict.current_rate_mb_per_step);
  }
  if (verdict.forecast) {
    add(curves, "plateau/forecast_mb", verdict.forecast->plateau_mb);
    add(curves, "plateau/forecast_low_mb", verdict.forecast->range.low);
    add(curves, "plateau/forecast_high_mb", verdict.forecast->range.high);
  }
  if (verdict.risk.limit_mb) add(curves, "plateau/limit_mb", *verdict.risk.limit_mb);
  if (verdict.risk.oom) add(curves, "plateau/oom_risk", *verdict.risk.oom);
}

}  // namespace

Curves curves_of(const LiveMoment& moment) {
  Curves curves;
  if (moment.snapshot != nullptr && moment.snapshot->whole) add_memory(curves, *moment.snapshot);
  if (moment.verdict != nullptr) add_verdict(curves, *moment.verdict);
  return curves;
}

void leave_out_tear_down(Curves& curves, const Verdict& verdict) {
  const auto owned = std::ranges::find(curves, kOwned, &Curves::value_type::first);
  if (owned == curves.end() || owned->second > (1 - kFallShare) * verdict.last_mb) return;
  std::erase_if(curves, [](const auto& curve) { return curve.first.starts_with(kMemory); });
}

double height_of(Word word) {
  constexpr std::array<double, 4> kHeights = {0, 1, 3, 2};  // plateau, warming, leak, undecided
  return kHeights[static_cast<size_t>(word)];
}

std::string one_line(const Verdict& verdict) {
  const Verdict clean = printable_verdict(verdict);
  const std::string sure = confidence_phrase(clean.confidence);
  const std::string said = headline_of(clean);
  return fmt::format("{}{}{}{}{}{}", word_upper(clean.word), sure.empty() ? "" : ", ", sure,
                     said.empty() ? "" : ": ", said, clean.file.empty() ? "" : " · " + clean.file);
}

}  // namespace plateau
