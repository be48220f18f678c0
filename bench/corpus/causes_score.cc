// SPDX-License-Identifier: Apache-2.0
#include "causes_score.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "verdict/verdict.h"

namespace plateau::bench {
namespace {

using Names = std::vector<std::string>;

// What counts as right for each cause of labels.json. A log of sizes cannot tell objects from
// native memory, so those two stand for each other.
const std::map<std::string, Names>& accepted() {
  static const std::map<std::string, Names> table = {
      {"native-live", {"native-leak", "python-objects"}},
      {"python-objects", {"native-leak", "python-objects"}},
      {"live-memory", {"native-leak", "python-objects", "evaluation-leak"}},
      {"child", {"native-leak", "python-objects"}},
      {"phase", {"phase-change"}},
      {"sawtooth", {"sawtooth"}},
      {"spikes", {"evaluation-spikes", "first-events"}},
      {"copy-on-write", {"copy-on-write"}},
      {"helpers", {"start-up-state"}},
      {"allocator", {"allocator-high-water"}},
      {"per-item-cache", {"per-example-cache"}},
      {"lazy-state", {"start-up-state"}},
      {"bounded-cache", {"bounded-cache"}},
      {"file-backed", {"file-backed-pages"}},
  };
  return table;
}

size_t rank_of(const std::vector<Cause>& causes, const Names& names) {
  for (size_t i = 0; i < causes.size(); ++i) {
    if (std::find(names.begin(), names.end(), causes[i].name) != names.end()) return i;
  }
  return causes.size() + 2;
}

}  // namespace

void print_causes(const std::vector<Trace>& traces) {
  size_t judged = 0, first = 0, second = 0;
  std::string missed;
  for (const Trace& trace : traces) {
    const auto names = accepted().find(trace.cause);
    if (names == accepted().end()) continue;
    const Verdict verdict = judge(trace.run);
    const size_t rank = rank_of(verdict.causes, names->second);
    ++judged;
    first += rank == 0;
    second += rank <= 1;
    if (rank > 1) missed += (missed.empty() ? "" : ", ") + trace.name;
  }
  fmt::print("- the true cause ranks first in {} of {} traces, first or second in {}; not in: {}\n",
             first, judged, second, missed.empty() ? "none" : missed);
}

}  // namespace plateau::bench
