// SPDX-License-Identifier: Apache-2.0
// Which processes outside the tree belong to the job nevertheless.
//
// A worker whose parent dies is handed to init or to a subreaper and leaves the tree; with its
// gigabytes. To find it again without taking in strangers, a process is adopted only if it was
// re-parented (its parent is pid 1, or a process of another session) and one of these holds:
//   1. its process group or session is led by a process that is or was a member. The kernel keeps a
//      pid unused while a group or session bears it, so the number cannot mislead. A person's
//      shell is never a member, so a login session never qualifies; an interactive shell gives
//      every job a group of its own, led by the job.
//   2. its cgroup is the job's own: the root's cgroup, not the root of the hierarchy, not one that
//      systemd makes for logins and users (session-3.scope, user@1000.service, *.slice,
//      init.scope), and every process in it is a member or itself re-parented, and none of them
//      older than the root.
//   3. its parent is this very process, which is a subreaper, and it is younger than the root:
//      `plateau run` has no other children but those it excludes.
// An orphan whose group leader died before the watcher came, outside such a cgroup, is not found.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "probe/member.h"
#include "probe/proc_dir.h"

namespace plateau {

// A process that is not a member, as far as stat tells.
struct Outsider {
  ProcessKey key;
  pid_t ppid = 0;
  pid_t pgrp = 0;
  pid_t session = 0;
  bool fresh = true;  // Looked at in this refresh.
};

class Kinship {
 public:
  // A process is a member from now on.
  void admit(const Member& member);
  // A pid was seen in the hands of a stranger: it leads nothing of ours any more.
  void disown(pid_t pid);

  // Forgets what was found out about the job's cgroup: call it before each round of questions.
  void begin_round() { own_cgroup_.reset(); }
  // Why `candidate` belongs to the job, or empty. `outsiders` is sorted by pid and includes it.
  std::string why_kin(const Outsider& candidate, std::span<const Outsider> outsiders,
                      std::span<const Member> members, ProcessKey root, int proc,
                      ProcBuffer& buffer);

 private:
  bool own_cgroup(std::span<const Outsider> outsiders, std::span<const Member> members,
                  ProcessKey root, int proc, ProcBuffer& buffer);

  std::optional<bool> own_cgroup_;
  std::vector<pid_t> leaders_;  // Pids of all members so far, ascending.
};

// The cgroup path of a process that tells most about its job: of the memory controller, version 1
// or 2, else of systemd; empty if it is the root or cannot be read.
std::string job_cgroup(int proc, pid_t pid, ProcBuffer& buffer);

// False for the root and for what systemd makes for logins, users and slices.
bool may_be_a_jobs_cgroup(std::string_view path);

}  // namespace plateau
