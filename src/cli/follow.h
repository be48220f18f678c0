// SPDX-License-Identifier: Apache-2.0
// What `judge` says while a log is still being written: a line when the word changes.
#pragma once

#include "cli/judge_request.h"
#include "command/verb.h"
#include "import/import.h"

namespace plateau {

// How import_file() is to look at `file` while it reads: for --follow, and for standard input that
// comes from a pipe, where nobody knows how long it will take. Empty if not at all. The lines go to
// standard output with --follow, else to standard error. From then on SIGINT ends the reading, and
// the answer about all that came follows. Requires: `invocation` and `request` outlive the reading.
std::optional<Following> following_for(const Invocation& invocation, const JudgeRequest& request,
                                       const std::string& file);

}  // namespace plateau
