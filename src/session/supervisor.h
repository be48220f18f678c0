// SPDX-License-Identifier: Apache-2.0
// Runs one job from start to end under watch: what `plateau run` does, without its printing.
//
// One poll loop, no threads: signals (signalfd), words from the training loop (datagram socket),
// copies of the job's output (relays), and a tick that samples the tree and guards the limit.
// Nothing in the loop can hold the job up: its output is carried by the relays, words are
// datagrams, and a walk that takes long delays only the next sample.
//
// If this process is killed, the job goes on: it is not tied to us by a signal, its output still
// flows through the relays, and its datagrams are dropped unread. The recording ends where it is.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "session/job.h"
#include "session/limit_guard.h"
#include "session/session.h"

namespace plateau {

struct SupervisorOptions : SessionOptions {
  std::vector<std::string> command;
  LimitPolicy limit;
  int save_signal = 0;       // Asks the job to save; see LimitGuard.
  bool learns_steps = true;  // By our module in the job's Python: see auto_module.h.
  bool keep_orphans = false;
  double orphan_grace_s = 5;
  std::vector<std::string> environment;  // "NAME=value", for the job beside what the session adds.
  // Asked whenever something has come: true ends the job, by SIGTERM and then by SIGKILL.
  std::function<bool()> enough = [] { return false; };
  std::vector<pid_t> companions;  // Children of ours that are no part of the job,
  // and those that come and go.
  std::function<std::vector<pid_t>()> errands = [] { return std::vector<pid_t>(); };
};

struct JobOutcome {
  Run run;  // What the recording holds.
  Ending ending;
  int exit_code = 0;  // As a shell reports it.
  bool stopped_by_limit = false;
  bool had_enough = false;   // SupervisorOptions::enough ended it.
  bool interrupted = false;  // Somebody asked for the end: Ctrl-C, or a signal sent to us.
  double elapsed_s = 0;
  double watch_cpu_s = 0;  // All CPU of this process and of the keeper, while they watched.
  ProbeCost cost;
  CensusWatch::Cost census;
};

// Blocks until the job has ended and nothing of it is left.
struct Supervised {
  std::optional<JobOutcome> outcome;
  StartError failure;
};
Supervised supervise(const SupervisorOptions& options);

}  // namespace plateau
