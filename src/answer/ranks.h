// SPDX-License-Identifier: Apache-2.0
// A job of many ranks: every rank by itself, every node against its limit, one verdict.
//
// Question: eight ranks run, memory grows. Is it the program (all ranks), one rank and what it is
// given, or one machine? And which machine is full first?
//
// Method. A run whose processes belong to two or more ranks (Process::rank), whether they were
// found in one tree or put together from several recordings (job_run.h), is judged as a whole, and
// each rank alone (series.h). A rank that leaks makes the job's answer a leak, also where the sum
// hides it. What the leaking ranks have in common is the reach of it: one rank, all ranks of one
// node, all, or some.
//
// Rank 0 is not like the others by right: it writes checkpoints and logs. If it alone grows, and by
// growth_by_clock() it does so at checkpoints, that is said with the amount, and the job is judged
// by the other ranks. What it holds still counts against the limit of its node.
//
// Each node holds the sum of its ranks and of what else was recorded on it. That sum is judged
// against the node's own limit, and the node that is full first is the job's risk.
//
// Worked case: 8 ranks on 4 nodes of 16 GB; rank 3 keeps 4 MB per step, the rest are level at 2 GB.
// Of the sum, 16 GB, that is 0.03 % a step; rank 3 alone is a leak from step 60 on. "rank 3 leaks,
// the other 7 are level"; node 1, with ranks 2 and 3, is full at step 3,000.
//
// Blind spot: ranks are judged on what they own. Pages that two ranks of a node share are divided
// among them where the kernel tells, and counted twice where it does not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recording/run.h"
#include "verdict/hindsight.h"

namespace plateau {

// The rank of each process: its own, or, of what a rank has started, its parent's; -1: of none. A
// recording in which no process or a single rank speaks for itself is of that one rank as a whole.
std::vector<int64_t> ranks_of(const Run& run);

// More ranks than this are judged as a sum only.
inline constexpr size_t kMostRanks = 1024;

// Fills Verdict::job and what it says about all. Leaves runs alone that have less than two ranks.
void judge_ranks(const Run& run, const Policy& policy, Judged& judged);

}  // namespace plateau
