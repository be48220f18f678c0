// SPDX-License-Identifier: Apache-2.0
// A job of several series (ranks, pods, GPUs, containers): each is judged by itself too.
//
// The sum over eight ranks is what a machine must hold, and it is what is judged; but one rank that
// leaks among seven that breathe can hide in it. So each series is judged alone, the odd one is
// named, and if one leaks while the sum is called harmless, the answer is that one's: a leak of one
// rank is a leak of the job. Processes of one tree are no series: they fork, end and share pages,
// and verdict/lives.h follows them.
#pragma once

#include "recording/run.h"
#include "verdict/hindsight.h"

namespace plateau {

// Fills in what each process of `judged` is by itself, and what that says about all. Leaves runs
// alone that are no series: a single process, processes with pids or parents, more than 256.
void judge_series(const Run& run, const Policy& policy, Judged& judged);

}  // namespace plateau
