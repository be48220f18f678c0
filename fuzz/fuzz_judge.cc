// SPDX-License-Identifier: Apache-2.0
// From bytes to verdict to text: whatever a log says, the answer is well-formed and printable.
#include "import_fuzz.h"
#include "report/json.h"
#include "verdict/verdict.h"

namespace {

void check(const plateau::Verdict& verdict) {
  using plateau::require;
  require(verdict.confidence >= 0 && verdict.confidence <= 1, "confidence is a probability");
  const double oom = verdict.risk.oom.value_or(0);
  require(oom >= 0 && oom <= 1, "risk is a probability");
  double weights = 0;
  for (const plateau::Explanation& explanation : verdict.explanations) {
    weights += explanation.weight;
  }
  require(verdict.explanations.empty() || std::fabs(weights - 1) < 1e-6, "weights sum to one");
  require(verdict.plot.size() <= 2000, "the plot is thinned");
  require(verdict_json(verdict).back() == '}', "the verdict can be written");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto runs = plateau::import_bytes("fuzz", bytes, {});
  if (!runs.ok()) return 0;
  // A few runs are enough; a thousand tiny ones would only be slow.
  for (size_t i = 0; i < std::min<size_t>(runs.value().size(), 4); ++i) {
    check(plateau::judge(runs.value()[i]));
  }
  return 0;
}
