// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "inject/safe_point.h"

namespace plateau {

Result<void> check_enterable(pid_t pid, const TargetFacts& facts) {
  if (!kCallsFunctions) {
    return cannot_trace(pid, "calling functions in a running process works on x86-64 alone",
                        "start it under 'plateau run'");
  }
  if (const Result<void> checked = check_target(pid, facts); !checked) return checked;
  if (facts.state == 'T') {
    return cannot_trace(pid, "it is stopped",
                        fmt::format("let it go on first: kill -CONT {}", pid));
  }
  if (facts.shadow_stack) {
    return cannot_trace(pid, "it runs with a shadow stack, which no call from outside can satisfy",
                        "start it under 'plateau run'");
  }
  return {};
}

}  // namespace plateau
