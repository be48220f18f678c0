// SPDX-License-Identifier: Apache-2.0
// One process of the watched job, with all that is remembered of it from tick to tick.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "probe/carry.h"
#include "probe/jvm_heap.h"
#include "probe/proc_dir.h"
#include "probe/program.h"
#include "probe/snapshot.h"
#include "probe/walk_budget.h"

namespace plateau {

struct Member {
  ProcessKey key;
  PidDir dir;

  // From stat, once a second (Tree::refresh).
  double stat_s = -1e300;  // When it was read last.
  pid_t parent = -1;       // The parent it had when it was found.
  pid_t parent_now = -1;   // Another one once the first is gone.
  pid_t pgrp = 0;
  pid_t session = 0;
  uint64_t cpu_ticks = 0;
  int64_t threads = kUnread;
  std::string comm;
  uint64_t start_code = 0;  // See ProcStat: the mark of one program image.
  uint64_t start_stack = 0;

  // From cmdline, when found and again when the marks above change.
  SeenProgram program;
  bool reborn = true;           // The program is new: found, or executed since the last tick.
  bool found_orphaned = false;  // By session, group or cgroup, not by descent.
  std::string orphan_reason;
  bool forked = false;  // Runs the same image as its parent: shares memory with it.
  uint64_t family = 0;  // The same for all who were forked from one image; 0: not known.

  // Given by roles.cc.
  Role role = Role::unknown;
  std::string role_reason;
  size_t parent_index = SIZE_MAX;  // Among the members; SIZE_MAX: none of them.
  bool had_children = false;
  bool had_workers = false;  // Children that were forked or spawned from it.
  bool outgrew = false;      // Owned more than it may as a wrapper, or than its parent: sticky.

  // What the sampler remembers.
  std::string statm;         // As last read, to see whether status can have changed.
  bool restless = false;     // Status changed when it was read last.
  bool by_statm = false;     // Statm has moved since status was read: swap may have, too.
  double status_s = -1e300;  // When status was read last.
  bool leaving = false;      // It has no memory any more, and is not a zombie yet.
  bool untold = false;       // Its files could not be read at this tick.
  ProcessSample figures;     // Of the last tick.
  Carry carry;
  WalkTarget walk;
  JvmWatch jvm;
};

}  // namespace plateau
