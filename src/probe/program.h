// SPDX-License-Identifier: Apache-2.0
// What kind of program a command line runs, as far as it tells: the ground on which the root of a
// job is chosen and roles are given.
//
// Judged by names alone. A trainer that is called "make" is taken for a launcher; one that renames
// itself is what it says it is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace plateau {

enum class ProgramKind : uint8_t {
  other,
  python,             // A Python program that does its work itself, as far as one can tell.
  launcher,           // Starts another program and waits: uv, torchrun, sudo, a shell script.
  interactive_shell,  // A person's shell: never part of a job.
  service,            // sshd, tmux, systemd, cron, jupyter, ...: runs jobs, belongs to none.
  helper,             // wandb, torch_shm_manager, resource_tracker, tee, ...
  compile_worker,     // torch/_inductor/compile_worker.
  spawned_worker,     // multiprocessing, start method "spawn".
  fork_server,        // multiprocessing, start method "forkserver".
};

struct SeenProgram {
  ProgramKind kind = ProgramKind::other;
  bool python = false;  // Whatever its kind.
  std::string label;  // For a reader: "python train.py", "uv", "sh run.sh"; at most 60 characters.
  uint64_t command_hash = 0;  // Of the whole command line; 0 if there is none.
};

// `cmdline` as /proc shows it, NUL-separated; `comm` the short name that the kernel keeps, which
// stands in for a missing command line.
SeenProgram describe_program(std::string_view cmdline, std::string_view comm);

}  // namespace plateau
