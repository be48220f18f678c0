// SPDX-License-Identifier: Apache-2.0
#include "frontier.h"

#include <fmt/format.h>

#include "score.h"

namespace plateau::bench {

void print_frontier(const std::vector<Trace>& traces) {
  fmt::print(
      "| leak is called at | precision | recall | bounded alarmed at some tenth | leak called fine "
      "| "
      "median detection |\n|---|---|---|---|---|---|\n");
  for (const double doubt : {0.3, 0.25, 0.22, 0.2, 0.18, 0.15, 0.12, 0.1}) {
    const Policy policy{.false_leak = doubt};
    const Score score = add_up(
        judge_all(traces, [&policy](const plateau::Run& run) { return judge(run, policy).word; }));
    const bool shipped = doubt == Policy().false_leak;
    fmt::print("| {}{:.0f} %{} | {:.2f} | {:.2f} | {} of {} | {} of {} | {:.1f} |\n",
               shipped ? "**" : "", 100 * (1 - doubt), shipped ? "**, as shipped" : "",
               score.precision(), score.recall(), score.alarmed, score.plateaus, score.lost,
               score.leaks, score.median_detection);
  }
}

}  // namespace plateau::bench
