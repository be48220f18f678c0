// SPDX-License-Identifier: Apache-2.0
// What each process does for the job, with the reason in one clause.
//
// Judged from what is cheap: the program (program.h), who forked whom, and the anonymous memory of
// the last tick. In this order:
//   orphan          found by group, session or cgroup; or a worker or helper whose parent ended.
//   compile worker  runs torch/_inductor/compile_worker, or was forked by one that does.
//   data worker     calls itself pt_data_worker; spawned by multiprocessing; or forked without
//   exec.
//                   If it has such workers itself, it is a rank: main.
//   wrapper         a launcher (uv, torchrun, a shell script), unless it holds over 1 GB and more
//                   than each of its children.
//   helper          wandb, tensorboard, resource trackers, tee, ...; and what nothing else fits.
//   main            Python, or, in a tree without Python, any program, that is the root or whose
//                   parent is a wrapper; also a program that Python started and that has come to
//                   hold more than its parent.
//
// Stable: every rule rests on what does not change back. A role changes when a process executes
// another program, gets its first worker, outgrows its parent, or loses its parent.
#pragma once

#include <vector>

#include "probe/member.h"

namespace plateau {

// Gives every member its role and reason. Call it after every change of the tree.
void assign_roles(std::vector<Member>& members, ProcessKey root);

// After each tick's figures: notes who outgrew whom. True if roles must be assigned anew.
bool note_growth(std::vector<Member>& members);

}  // namespace plateau
