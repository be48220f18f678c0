// SPDX-License-Identifier: Apache-2.0
#include "trait_table.h"

#include <fmt/format.h>

#include "score.h"
#include "verdict/judge_parts.h"
#include "verdict/traits.h"

namespace plateau::bench {
namespace {

constexpr int kEarliestTenth = 2;

void print_look(const std::string& directory, const Trace& trace, int tenth) {
  const Run run = first_tenths(trace.run, tenth);
  const Signals signals = telling_signals(TreeColumns(run), run, {});
  if (signals.components.empty()) return;
  const CaseFile file = decide_case(run, signals, {});
  const Decision& decision = file.decision();
  if (decision.posterior.fits.empty()) return;
  const auto now = static_cast<double>(run.instants.back().step);
  const double leaking = std::max(0.0, now - trace.onset_step);
  const Traits t = traits_of(decision, file.timeline);
  fmt::print("{},{},{},{:d},{},{:.3f},{},{:.4f},{:.4f},{:.4f},{:.2f},", directory, trace.name,
             trace.kind, trace.leak, tenth, trace.leak ? trace.rate_mb_per_step * leaking : 0.0,
             word_name(decision.word), decision.leak, decision.level, decision.warming,
             trace.added_mb);
  fmt::print("{:.3f},{:.3f},{:.3f},{:d},{:.3f},{:.3f},{:.3f},{:.3f},", t.evidence, t.past_deadline,
             t.epochs, t.epoch_known, t.samples, t.recent, t.recent_half, t.falls);
  fmt::print("{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f}\n", t.largest_jump,
             t.top_three, t.growth, t.steepness, t.at_events, t.late, t.teeth, t.spikes, t.at_high);
}

}  // namespace

void print_traits(const std::string& directory, const std::vector<Trace>& traces) {
  static bool headed = false;
  if (!headed) {
    fmt::print(
        "folder,trace,kind,leak,tenth,added_mb,word,p_leak,p_level,p_warming,added_in_all_mb,"
        "evidence,past_deadline,epochs,epoch_known,samples,recent,recent_half,falls,"
        "largest_jump,top_three,growth,steepness,at_events,late,teeth,spikes,at_high\n");
    headed = true;
  }
  for (const Trace& trace : traces) {
    for (int tenth = kEarliestTenth; tenth <= 10; ++tenth) print_look(directory, trace, tenth);
  }
}

}  // namespace plateau::bench
