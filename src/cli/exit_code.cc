// SPDX-License-Identifier: Apache-2.0
#include "cli/exit_code.h"

#include <algorithm>
#include <array>

namespace plateau {
namespace {

ptrdiff_t badness(int code) {
  constexpr std::array<int, 3> kRising = {kExitFine, kExitUndecided, kExitLeak};
  return std::find(kRising.begin(), kRising.end(), code) - kRising.begin();
}

}  // namespace

std::vector<ExitMeaning> verdict_exits() {
  return {{"0", "plateau or warming; with --expect, the expected word"},
          {"1", "leak; with --expect, another decided word or an expectation not met"},
          {"2", "wrong usage, or input or output that failed"},
          {"3", "undecided"}};
}

int exit_code_for(const Verdict& verdict, const Expectation& expected) {
  if (expected.word && verdict.word == *expected.word) {
    return unmet(verdict, expected).empty() ? kExitFine : kExitLeak;
  }
  if (verdict.word == Word::undecided) return kExitUndecided;
  if (expected.word) return kExitLeak;
  return verdict.word == Word::leak ? kExitLeak : kExitFine;
}

int worse_exit_code(int a, int b) {
  return badness(a) >= badness(b) ? a : b;
}

}  // namespace plateau
