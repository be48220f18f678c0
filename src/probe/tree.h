// SPDX-License-Identifier: Apache-2.0
// Which processes belong to the job, found again at every tick.
//
// Members are the root, their children, and orphans (orphans.h). Once a member, always a member:
// a process that is re-parented because its parent died keeps the parent it had. A member is known
// by pid and start time and by a kept descriptor, so a pid that is handed out again is another
// process. Processes in `exclude` are never members, nor is what descends from them alone.
//
// Cost. Reading `children` of every thread of every member costs 5 us a thread, and a trainer has
// hundreds. Reading the whole of /proc costs 10 us a process. Neither is needed when nothing was
// born: the last field of /proc/loadavg is the pid that was given out last, in our pid namespace,
// and it costs 1 us. If it has moved by a few, the pids in between are tried one by one, at 2 us
// each; they may be threads, which status tells. If it has moved by more, or wrapped around, /proc
// is listed and pids that were not there before are looked at. So a tick without births costs
// at most one stat per member. Every 60 s all processes are looked at again; that catches a pid
// that was handed out again between two ticks.
//
// Blind spot: a process that is born and dies between two ticks; if it had children meanwhile, they
// are found by the rules for orphans only.
#pragma once

#include <dirent.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "probe/member.h"
#include "probe/orphans.h"

namespace plateau {

class Tree {
 public:
  struct Options {
    std::string proc = "/proc";
    bool follow_orphans = true;
    std::vector<pid_t> exclude;
  };

  Tree(Options options, ProcessKey root);

  // Reads stat of the members, drops the dead, adopts the new. `now_s` paces the full look, and
  // stat: a member with kept descriptors is asked once a second. In between its other files tell
  // whether it lives, by ESRCH or by having no memory; then see ended() and drop().
  void refresh(double now_s);

  void exclude(pid_t pid) { options_.exclude.push_back(pid); }

  // Reads stat of a member that seems to have ended since.
  bool ended(Member& member);
  // A member turned out to be gone after refresh().
  void drop(ProcessKey key, double now_s);

  // Root first while it lives, then by pid.
  [[nodiscard]] std::vector<Member>& members() { return members_; }
  [[nodiscard]] const std::vector<ProcessKey>& gone() const { return gone_; }  // By refresh().
  [[nodiscard]] bool changed() const { return changed_; }  // Members came, went or executed.
  // Of all members that have ended: the largest share of its life that one spent under walks.
  [[nodiscard]] double worst_ended_share() const { return worst_ended_share_; }
  [[nodiscard]] ProcessKey root() const { return root_; }
  [[nodiscard]] int proc() const { return proc_.get(); }
  [[nodiscard]] ProcBuffer& buffer() { return *buffer_; }

 private:
  // untold: this process has no descriptor left to ask with.
  enum class Life : uint8_t { alive, gone, untold };

  Life reread(Member& member);
  void load_program(Member& member);
  // How many pids were given out since the last call; -1 if that cannot be told.
  [[nodiscard]] int64_t births();
  void try_newest(int64_t count);
  void list_pids();
  void look_at_outsiders(double now_s, bool all);
  bool adopt_children(double now_s);
  bool adopt_orphans();
  void adopt(const Outsider& outsider, std::string orphan_reason);
  [[nodiscard]] bool excluded(pid_t pid) const;
  [[nodiscard]] bool is_member(pid_t pid) const;
  [[nodiscard]] Member* find(pid_t pid);
  void index_members();
  void sort_members();

  Options options_;
  ProcessKey root_;
  Fd proc_;
  std::unique_ptr<DIR, int (*)(DIR*)> listing_;
  Fd loadavg_;
  std::unique_ptr<ProcBuffer> buffer_;
  size_t keep_allowed_;

  std::vector<Member> members_;
  std::vector<pid_t> member_pids_;  // Ascending: a listing asks for every pid of the machine.
  std::vector<ProcessKey> gone_;
  bool changed_ = false;
  double worst_ended_share_ = 0;

  int64_t last_pid_ = -1;
  double last_full_s_ = 0;
  bool looked_ = false;
  std::vector<pid_t> pids_;          // As listed, ascending.
  std::vector<Outsider> outsiders_;  // Everyone else, ascending.
  std::vector<Outsider> next_;       // Scratch.
  Kinship kinship_;
};

}  // namespace plateau
