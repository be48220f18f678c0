// SPDX-License-Identifier: Apache-2.0
// The way a job's output takes: into a channel that we hold, and out of it unchanged.
//
// The question: how can a watcher read "Step 120" in a job's output without the job noticing? A
// program behaves differently on a terminal (progress bars, colours, line buffering), so what was a
// terminal must stay one; stdout and stderr that went to the same place must keep their order; and
// if the watcher is killed the job must go on writing.
//
// Method: one channel per distinct destination. If stdout and stderr lead to the same file
// description target (same device and inode) they share one. A terminal becomes a
// pseudo-terminal of the same size, in raw mode: the bytes pass untouched and the real terminal
// does what it always did with them. Anything else becomes a pipe. Each channel is copied by a
// process of its own (relay.h), which outlives the watcher. Standard input is not touched: the job
// reads the real one.
//
// Blind spot: a job that sets terminal modes through its standard output sets the
// pseudo-terminal's, which nobody reads; full-screen programs do so through standard input.
#pragma once

#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace plateau {

struct Channel {
  Fd job_end;             // The job's stdout and/or stderr. Closed in the parent after the fork.
  Fd our_end;             // Read by the relay.
  int sink = -1;          // Where the bytes go on to: 1 or 2. Not owned.
  bool terminal = false;  // our_end is the master of a pseudo-terminal.
  bool carries_stdout = false;
  bool carries_stderr = false;
};

// Channels for this process's stdout and stderr. Fails if no descriptor or pseudo-terminal is left.
Result<std::vector<Channel>> open_channels();

// Copies the size of terminal `from` to the pseudo-terminal `to`; true if it changed.
bool copy_terminal_size(int from, int to);

}  // namespace plateau
