// SPDX-License-Identifier: Apache-2.0
// The two ways to look at a Watcher: a screen, or lines into a pipe.
#pragma once

#include <optional>

#include "command/output.h"
#include "report/text.h"
#include "session/watcher.h"

namespace plateau {

struct LookOptions {
  std::optional<double> for_s;  // Stop after this time.
  double print_every_s = 10;    // Lines only.
  bool json = false;
  bool quiet = false;  // Lines only: none until the verdict.
  View view;
};

// Both return when the job has ended, the time is up, or somebody asks to stop (q, ^C, SIGTERM).
// The screen needs a terminal on standard output; it is restored however this returns.
void watch_on_screen(Watcher& watcher, const LookOptions& look, Output& out);
void watch_in_lines(Watcher& watcher, const LookOptions& look, Output& out);

}  // namespace plateau
