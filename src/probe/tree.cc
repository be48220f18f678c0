// SPDX-License-Identifier: Apache-2.0
#include "probe/tree.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "base/text.h"
#include "probe/proc_files.h"

namespace plateau {
namespace {

constexpr double kFullLookEverySeconds = 60;
constexpr int64_t kTriedOneByOne = 24;
// CPU time, a new name and a new program are known this late. Stat costs four times statm.
constexpr double kStatEverySeconds = 1;

bool is_over(const std::optional<ProcStat>& stat, const Member& member) {
  if (!stat || stat->start_ticks != member.key.start_ticks) return true;
  // A leader that has ended is a zombie also while its other threads go on.
  return stat->state == 'X' || (stat->state == 'Z' && stat->threads <= 1);
}

}  // namespace

Tree::Tree(Options options, ProcessKey root)
    : options_(std::move(options)),
      root_(root),
      proc_(open(options_.proc.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
      listing_(opendir(options_.proc.c_str()), closedir),
      loadavg_(openat(proc_.get(), "loadavg", O_RDONLY | O_CLOEXEC)),
      buffer_(std::make_unique<ProcBuffer>()),
      keep_allowed_(kept_processes_allowed()) {
  const PidDir dir(proc_.get(), root.pid, false);
  const auto stat = parse_stat(dir.read_once("stat", *buffer_).bytes);
  if (stat && stat->start_ticks == root.start_ticks) {
    adopt({root, stat->ppid, stat->pgrp, stat->session}, {});
  }
}

void Tree::refresh(double now_s) {
  gone_.clear();
  // The constructor's root is a change too: nobody has seen it yet.
  changed_ = !looked_;
  std::erase_if(members_, [this, now_s](Member& member) {
    if (member.dir.kept() && now_s - member.stat_s < kStatEverySeconds - 1e-6) return false;
    member.stat_s = now_s;
    if (reread(member) != Life::gone) return false;
    gone_.push_back(member.key);
    worst_ended_share_ = std::max(worst_ended_share_, member.walk.share(now_s));
    changed_ = true;
    return true;
  });
  if (!gone_.empty()) index_members();
  const bool all = !looked_ || now_s - last_full_s_ >= kFullLookEverySeconds;
  const int64_t born = births();
  if (!members_.empty() && (born != 0 || all)) {
    if (!all && born > 0 && born <= kTriedOneByOne) {
      try_newest(born);
    } else {
      look_at_outsiders(now_s, all);
    }
    kinship_.begin_round();
    bool grown = false;
    do {
      grown = adopt_children(now_s);
      if (!grown && options_.follow_orphans) grown = adopt_orphans();
    } while (grown);
    sort_members();
  }
  for (Outsider& outsider : outsiders_) outsider.fresh = false;
}

Tree::Life Tree::reread(Member& member) {
  const ProcRead text = member.dir.read(PidDir::stat, *buffer_);
  if (text.error == EMFILE || text.error == ENFILE) return Life::untold;
  const auto stat = parse_stat(text.bytes);
  if (is_over(stat, member)) return Life::gone;
  member.parent_now = stat->ppid;
  member.pgrp = stat->pgrp;
  member.session = stat->session;
  member.cpu_ticks = stat->cpu_ticks;
  member.threads = stat->threads;
  // Where the code starts is 0 once the memory is gone: the process is on its way out, its command
  // line is empty, and it stays what it was.
  const bool leaving = stat->start_code == 0 && !member.program.label.empty();
  if (leaving) return Life::alive;
  if (stat->comm != member.comm || stat->start_code != member.start_code ||
      stat->start_stack != member.start_stack) {
    member.start_code = stat->start_code;
    member.start_stack = stat->start_stack;
    member.comm.assign(stat->comm);
    load_program(member);
  }
  return Life::alive;
}

void Tree::load_program(Member& member) {
  const ProcRead text = member.dir.read_once("cmdline", *buffer_);
  member.program = describe_program(text.bytes, member.comm);
  member.reborn = true;
  changed_ = true;
}

int64_t Tree::births() {
  if (!loadavg_) return -1;
  const int64_t last = parse_last_pid(read_kept(loadavg_.get(), *buffer_).bytes);
  const int64_t born = last < 0 || last_pid_ < 0 || last < last_pid_ ? -1 : last - last_pid_;
  last_pid_ = last;
  return born;
}

void Tree::try_newest(int64_t count) {
  for (int64_t pid = last_pid_ - count + 1; pid <= last_pid_; ++pid) {
    const auto born = static_cast<pid_t>(pid);
    const PidDir dir(proc_.get(), born, false);
    const auto stat = parse_stat(dir.read_once("stat", *buffer_).bytes);
    if (!stat || stat->state == 'Z' || stat->state == 'X') continue;
    const Outsider found{{born, stat->start_ticks}, stat->ppid, stat->pgrp, stat->session};
    // /proc does not list threads but answers for them.
    if (parse_status(dir.read_once("status", *buffer_).bytes).tgid != born) continue;
    const auto at = std::lower_bound(outsiders_.begin(), outsiders_.end(), born,
                                     [](const Outsider& o, pid_t p) { return o.key.pid < p; });
    if (at != outsiders_.end() && at->key.pid == born) {
      *at = found;
    } else if (!is_member(born)) {
      outsiders_.insert(at, found);
    }
  }
}

void Tree::list_pids() {
  pids_.clear();
  if (!listing_) return;
  rewinddir(listing_.get());
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one stream, one thread.
  while (const dirent* entry = readdir(listing_.get())) {
    if (!is_digit(entry->d_name[0])) continue;
    const auto pid = parse_int(entry->d_name);
    if (pid && *pid > 0 && *pid <= 0x7fffffff) pids_.push_back(static_cast<pid_t>(*pid));
  }
  std::sort(pids_.begin(), pids_.end());
}

void Tree::look_at_outsiders(double now_s, bool all) {
  list_pids();
  if (all) last_full_s_ = now_s;
  looked_ = true;
  next_.clear();
  auto known = outsiders_.begin();
  for (const pid_t pid : pids_) {
    if (is_member(pid)) continue;
    while (known != outsiders_.end() && known->key.pid < pid) ++known;
    const bool seen = known != outsiders_.end() && known->key.pid == pid;
    if (seen && !all) {
      next_.push_back(*known);
      continue;
    }
    const PidDir dir(proc_.get(), pid, false);
    const auto stat = parse_stat(dir.read_once("stat", *buffer_).bytes);
    if (!stat || stat->state == 'Z' || stat->state == 'X') continue;
    next_.push_back({{pid, stat->start_ticks}, stat->ppid, stat->pgrp, stat->session});
  }
  outsiders_.swap(next_);
}

bool Tree::adopt_children(double now_s) {
  bool any = false;
  for (Outsider& outsider : outsiders_) {
    if (!outsider.fresh || !is_member(outsider.ppid) || excluded(outsider.key.pid)) continue;
    Member* parent = find(outsider.ppid);
    // A child is never older than its parent; if it seems so, the parent's pid is a reused one.
    if (parent == nullptr || parent->key.start_ticks > outsider.key.start_ticks) continue;
    // Whether the child shares memory with it is told by what the parent runs now: it may have
    // executed a program since it was looked at.
    if (parent->stat_s < now_s) {
      parent->stat_s = now_s;
      reread(*parent);
    }
    adopt(outsider, {});
    outsider.key.pid = 0;
    any = true;
  }
  std::erase_if(outsiders_, [](const Outsider& outsider) { return outsider.key.pid == 0; });
  return any;
}

bool Tree::adopt_orphans() {
  for (auto at = outsiders_.begin(); at != outsiders_.end(); ++at) {
    if (!at->fresh || excluded(at->key.pid)) continue;
    kinship_.disown(at->key.pid);
    std::string why = kinship_.why_kin(*at, outsiders_, members_, root_, proc_.get(), *buffer_);
    if (why.empty()) continue;
    adopt(*at, std::move(why));
    outsiders_.erase(at);
    return true;
  }
  return false;
}

void Tree::adopt(const Outsider& outsider, std::string orphan_reason) {
  Member member;
  member.key = outsider.key;
  member.dir = PidDir(proc_.get(), outsider.key.pid, members_.size() < keep_allowed_);
  member.parent = outsider.ppid;
  member.found_orphaned = !orphan_reason.empty();
  member.orphan_reason = std::move(orphan_reason);
  if (reread(member) != Life::alive) return;
  // The kernel names no program that was never marked; its command line is read in any case.
  if (member.program.label.empty()) load_program(member);
  kinship_.admit(member);
  member_pids_.insert(std::lower_bound(member_pids_.begin(), member_pids_.end(), member.key.pid),
                      member.key.pid);
  members_.push_back(std::move(member));
  changed_ = true;
}

bool Tree::excluded(pid_t pid) const {
  return std::find(options_.exclude.begin(), options_.exclude.end(), pid) != options_.exclude.end();
}

bool Tree::ended(Member& member) {
  const ProcRead text = member.dir.read(PidDir::stat, *buffer_);
  return is_over(parse_stat(text.bytes), member);
}

void Tree::drop(ProcessKey key, double now_s) {
  std::erase_if(members_, [this, key, now_s](const Member& member) {
    if (member.key != key) return false;
    worst_ended_share_ = std::max(worst_ended_share_, member.walk.share(now_s));
    return true;
  });
  index_members();
}

bool Tree::is_member(pid_t pid) const {
  return std::binary_search(member_pids_.begin(), member_pids_.end(), pid);
}

Member* Tree::find(pid_t pid) {
  const auto at =
      std::ranges::find(members_, pid, [](const Member& member) { return member.key.pid; });
  return at == members_.end() ? nullptr : &*at;
}

void Tree::index_members() {
  member_pids_.clear();
  for (const Member& member : members_) member_pids_.push_back(member.key.pid);
  std::sort(member_pids_.begin(), member_pids_.end());
}

void Tree::sort_members() {
  std::sort(members_.begin(), members_.end(), [this](const Member& a, const Member& b) {
    const bool a_root = a.key == root_;
    const bool b_root = b.key == root_;
    return a_root != b_root ? a_root : a.key < b.key;
  });
}

}  // namespace plateau
