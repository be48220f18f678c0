// SPDX-License-Identifier: Apache-2.0
// The heaps of several processes as one: for jobs that grow by the number of their processes.
//
// Worked case: a job starts two workers per epoch and forgets to end them. Each worker's heap is
// level, the job's is a staircase; only the sum over the processes shows which call it is made of.
#pragma once

#include <vector>

#include "recording/heap_track.h"

namespace plateau {

// One track whose sites are those of all `tracks`, at the rows of the one that was followed
// longest. Another process counts with its last row before each of them; with nothing before its
// first row, and nothing once it has had no row for the distance of several.
//
// Addresses of the k-th process are moved by k x 2^48, with their modules, so that stacks still
// find their names. The pid is 0. Requires: at most 65,535 tracks, which are user-space ones.
HeapTrack sum_heaps(const std::vector<HeapTrack>& tracks);

}  // namespace plateau
