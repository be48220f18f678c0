// SPDX-License-Identifier: Apache-2.0
// Which part of which job a process is, as its launcher told it through the environment.
//
// torchrun, Slurm, Kubernetes, Ray and MPI each start many processes of one job and tell each who
// it is by variables of their own. One table knows those names; what they say becomes facts of the
// recording (recording/facts.h): rank, world, attempt, job and node, each with the variable that
// said it. PLATEAU_JOB, PLATEAU_RANK, PLATEAU_WORLD, PLATEAU_ATTEMPT and PLATEAU_NODE come first,
// for launchers that are not in the table. docs/ranks.md lists them all.
//
// Worked case: RANK=3 WORLD_SIZE=8 TORCHELASTIC_RUN_ID=none MASTER_ADDR=n0 MASTER_PORT=29500 is
// rank 3 of 8 of job "n0:29500": with a static rendezvous torchrun names every job "none".
//
// The environment is hostile. A number that is none, is negative or beyond any cluster says
// nothing; nor does a rank that its own world has no room for. Names are one printable line of at
// most kMaxFactText bytes.
//
// Blind spot: a launcher that hands ranks over as arguments (torch.multiprocessing.spawn) is not
// seen here; the module inside the job tells those (`run rank=3 world=8`).
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "recording/facts.h"

namespace plateau {

// The value of a variable; "" if it is not set.
using EnvironmentLookup = std::function<std::string(std::string_view name)>;

// Facts rank, world, attempt, job and node, as far as they are told; all others stay empty.
Context launch_identity(const EnvironmentLookup& variable);

// Of this process.
Context launch_identity();

// Of /proc/PID/environ: "NAME=value" entries, each ended by a NUL.
Context launch_identity_of(std::string_view environment);

}  // namespace plateau
