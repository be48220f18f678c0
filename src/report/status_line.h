// SPDX-License-Identifier: Apache-2.0
// A verdict in a few words, for a shell's prompt or the status line of tmux.
#pragma once

#include <string>

#include "report/text.h"
#include "verdict/verdict.h"

namespace plateau {

// The word, the level, and where it goes: "leak 17.4 GB +168 MB/step", "plateau 17.4 GB",
// "warming 3.10 GB, ends near 4.00 GB", "undecided 12.0 GB +98 MB/step". One line, without its end.
std::string render_status(const Verdict& verdict, const View& view);

}  // namespace plateau
