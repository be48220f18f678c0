// SPDX-License-Identifier: Apache-2.0
// Starts a command as a job of its own: own process group, our relays on its output, the terminal's
// foreground if we had it.
//
// Like a shell does it: the group becomes the terminal's foreground group, so that Ctrl-C and
// Ctrl-Z reach the job directly and reading from the terminal works. What the job leaves behind
// when its first process ends comes back to us, because we are its subreaper.
//
// Single-threaded; fork() here must not meet other threads.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "session/relay.h"

namespace plateau {

struct JobRequest {
  std::vector<std::string> command;      // Program and arguments; found by PATH.
  std::vector<std::string> environment;  // "NAME=value", added to ours.
  std::string cgroup_procs;              // File to write the job's pid to before it starts, or "".
};

struct Job {
  pid_t pid = -1;  // Also the id of its process group.
  std::vector<Relay> relays;
  bool has_terminal = false;  // It was made the terminal's foreground group.
};

// How a child ended, from waitpid().
struct ChildEnd {
  pid_t pid = -1;
  int status = 0;
};

// Why a command could not be started.
struct StartError {
  Error error;
  int exit_code = 2;  // 127 not found, 126 not executable, as shells say it.
};
struct Started {
  std::optional<Job> job;
  StartError failure;
};
// Runs the command. Nothing of it is left if it could not be started.
Started start_job(const JobRequest& request);

// Makes sure that 0, 1 and 2 are open, on /dev/null where the caller closed them (`>&-`): else the
// next file opened, a recording perhaps, would become the job's standard output.
void fill_standard_descriptors();

// Hands the terminal to the job if it is ours to give: if we are its foreground group. Returns
// whether it did.
bool give_terminal(const Job& job);
// Takes the terminal back from the job, if the job (or a group of its that is gone) holds it. One
// that a shell has taken meanwhile, because the job runs in the background, is left alone.
void take_terminal(const Job& job);

// 0..255 as a shell reports a wait status: the exit code, or 128 + signal.
int exit_code_of(int wait_status);

}  // namespace plateau
