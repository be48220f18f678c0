// SPDX-License-Identifier: Apache-2.0
// The recordings of one job's ranks, put together as one run whose ranks stand side by side.
//
// Every rank, or every node, of a job leaves a recording of its own, made on its own machine by its
// own clock. Two machines' clocks may differ by minutes, so time says nothing across recordings;
// work does: all ranks of a synchronous job take step 120 together. So recordings are laid side by
// side by their steps. At each step every process has the figures of the one sample at which its
// recording owned least since the step before; between its samples a recording keeps the last.
// Where not all recordings have steps, seconds since each one's own start stand in.
//
// A rank that was started anew (torchrun's elastic restarts, a requeued job) has several
// recordings. They are its lives, in the order of attempts, then of starting times. Where a life
// resumes at an earlier step than the last one reached, it is counted on: steps that are done again
// are work all the same. Processes of two lives are different processes, so that verdict/lives.h
// takes an end for an end and not for a release.
//
// Worked case: four ranks reach step 120 and are killed; all resume from a checkpoint at step 100
// and reach 300. The second lives stand at 121 to 321.
//
// Left out, with a note each: of two recordings of the same rank and attempt that ran at the same
// time, the shorter one; heaps and gauges, which stay with their recordings.
//
// Blind spot: ranks that step by themselves (asynchronous training, a sweep under one id) are laid
// side by side as if they waited for each other. Peaks within a step are in each recording only.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "recording/run.h"

namespace plateau {

// Do they belong together: do all have the same job's id, and are they of more than one rank or
// attempt? Two runs of one rank that no attempt tells apart are rather to be compared.
bool is_one_job(std::span<const Run> runs);

// At most as many instants as a page shows; fewer where the table would grow too large.
inline constexpr size_t kMostJobInstants = 2000;

// Numbers recordings that know no rank, in their order, from the first that is free.
void number_ranks(std::span<Run> runs);

// Fails if nothing was sampled in any of them. Requires: at least one; number_ranks() was here.
Result<Run> job_run(std::span<const Run> runs);

}  // namespace plateau
