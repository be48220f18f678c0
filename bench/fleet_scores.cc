// SPDX-License-Identifier: Apache-2.0
// What a verdict thinks of single series whose load is known to be level, for setting and checking
// what a score means in a fleet (src/fleet/judge_series.h). Reads a line each: a name, a tab, MB at
// every 30 s, separated by spaces. Writes name, word, the logarithm of the odds of a leak against
// everything that is bounded and against what ends visibly, the factor that the fleet takes, and
// whether it drifts (1 climbs, -1 falls).
// bench/fleet_scores.py makes the lines of recorded traces, and counts.
#include <fmt/format.h>

#include <iostream>
#include <sstream>
#include <string>

#include "fleet/judge_series.h"

int main() {
  using namespace plateau;
  using namespace plateau::fleet;
  constexpr double kBegin = 1.7e9;
  constexpr double kEvery = 30;
  std::string line;
  while (std::getline(std::cin, line)) {
    const size_t tab = line.find('\t');
    if (tab == std::string::npos) continue;
    JudgedSeries judged;
    judged.begin_s = kBegin;
    judged.kind = Metric::anon;
    std::istringstream values(line.substr(tab + 1));
    double at_s = kBegin, mb = 0;
    while (values >> mb) judged.series.samples.push_back({at_s += kEvery, mb});
    if (judged.series.samples.size() < kFewestSamples) continue;
    Run run = run_of(judged.series, judged.kind, kBegin);
    run.gauges.push_back(
        {.name = "load", .process = 0, .value = std::vector<double>(run.instants.size(), 1)});
    const Verdict verdict = judge(run);
    fmt::print("{}\t{}\t{:.3f}\t{:.3f}\t{:.3f}\t{}\n", line.substr(0, tab), word_name(verdict.word),
               verdict.leak_odds.all, verdict.leak_odds.shapes,
               judge_at_level_load(judged).log_factor,
               static_cast<int>(drift_of(judged.series.samples).way));
  }
}
