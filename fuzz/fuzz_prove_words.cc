// SPDX-License-Identifier: Apache-2.0
// Whatever a job sends as a mark: a trial takes it, and its answer stays an answer.
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "prove/trial.h"

namespace {

void require(bool truth) {
  if (!truth) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  plateau::ProveTrial trial;
  plateau::StepWords words;
  words.kind = plateau::StepWords::Kind::mark;
  for (int lines = 0; lines < 64 && !rest.empty(); ++lines) {
    const size_t end = rest.find('\n');
    words.name = rest.substr(0, end);
    words.pid = 1 + lines % 2;
    trial.hear(words);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  const plateau::ProveResult result = trial.result();
  const double shares =
      result.odds.level + result.odds.example + result.odds.step + result.odds.both;
  require(!result.design || std::abs(shares - 1) < 1e-6);
  for (const plateau::BatchBlock& block : result.blocks) require(std::isfinite(block.mb_per_step));
  require(trial.progress(120).size() < 1000);
  return 0;
}
