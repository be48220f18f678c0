// SPDX-License-Identifier: Apache-2.0
// From any process of a job to the topmost one.
//
// People give the pid they have: the trainer's, a data worker's, that of `uv run`. The parents are
// climbed for as long as the parent
//   - is a launcher: uv, torchrun, accelerate, sudo, timeout, make, a shell that runs a script or
//     `-c` command, ... (program.h has the list); or
//   - is Python, and so is the child: a pool's parent, or a script that starts a script.
// The climb stops below a person's shell (no script, no -c), below services (sshd, tmux, systemd,
// cron, jupyter, container inits, plateau), below pid 1, below processes to be excluded, below
// whoever also started this watcher (a script that starts a job and then watches it is not part of
// the job) and below any other program.
#pragma once

#include <sys/types.h>

#include <span>
#include <string>

#include "base/result.h"
#include "probe/snapshot.h"

namespace plateau {

struct RootChoice {
  ProcessKey root;
  std::string reason;  // "2 steps above 4242 (python train.py); its parent is a shell (bash)".
};

// `proc` is an open directory. Fails if there is no such process, or if it is a zombie.
Result<RootChoice> choose_root(int proc, pid_t pid, std::span<const pid_t> exclude,
                               bool exact_root);

}  // namespace plateau
