// SPDX-License-Identifier: Apache-2.0
#include "probe/orphans.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>

#include "probe/proc_files.h"

namespace plateau {
namespace {

const Outsider* find(std::span<const Outsider> outsiders, pid_t pid) {
  const auto at = std::lower_bound(outsiders.begin(), outsiders.end(), pid,
                                   [](const Outsider& o, pid_t p) { return o.key.pid < p; });
  return at != outsiders.end() && at->key.pid == pid ? &*at : nullptr;
}

bool reparented(const Outsider& candidate, std::span<const Outsider> outsiders) {
  if (candidate.ppid == 1) return true;
  if (candidate.key.pid == candidate.session) return false;
  const Outsider* parent = find(outsiders, candidate.ppid);
  return parent != nullptr && parent->session != candidate.session;
}

bool this_process_is_subreaper() {
  int reaps = 0;
  return prctl(PR_GET_CHILD_SUBREAPER, &reaps) == 0 && reaps != 0;
}

// cgroup.procs does not matter here: /proc/PID/cgroup of those around says the same, and also on a
// machine whose hierarchy is not mounted.
bool in_cgroup(int proc, pid_t pid, const std::string& path, ProcBuffer& buffer) {
  return job_cgroup(proc, pid, buffer) == path;
}

}  // namespace

void Kinship::admit(const Member& member) {
  const auto at = std::lower_bound(leaders_.begin(), leaders_.end(), member.key.pid);
  if (at == leaders_.end() || *at != member.key.pid) leaders_.insert(at, member.key.pid);
}

void Kinship::disown(pid_t pid) {
  const auto at = std::lower_bound(leaders_.begin(), leaders_.end(), pid);
  if (at != leaders_.end() && *at == pid) leaders_.erase(at);
}

std::string Kinship::why_kin(const Outsider& candidate, std::span<const Outsider> outsiders,
                             std::span<const Member> members, ProcessKey root, int proc,
                             ProcBuffer& buffer) {
  const bool younger = candidate.key.start_ticks >= root.start_ticks;
  if (!younger) return {};
  if (candidate.ppid == getpid() && this_process_is_subreaper()) {
    return "was handed to the watcher when its parent ended";
  }
  if (!reparented(candidate, outsiders)) return {};
  const auto leads = [this](pid_t pid) {
    return std::binary_search(leaders_.begin(), leaders_.end(), pid);
  };
  if (candidate.pgrp != candidate.key.pid && leads(candidate.pgrp)) {
    return fmt::format("lost its parent; is in process group {} of the job", candidate.pgrp);
  }
  if (candidate.session != candidate.key.pid && leads(candidate.session)) {
    return fmt::format("lost its parent; is in session {} of the job", candidate.session);
  }
  const std::string path = job_cgroup(proc, root.pid, buffer);
  if (!may_be_a_jobs_cgroup(path) || !in_cgroup(proc, candidate.key.pid, path, buffer)) return {};
  // Asks every process of the machine: once a round is enough.
  if (!own_cgroup_) own_cgroup_ = own_cgroup(outsiders, members, root, proc, buffer);
  if (!*own_cgroup_) return {};
  return fmt::format("lost its parent; is in the job's cgroup {}", path);
}

bool Kinship::own_cgroup(std::span<const Outsider> outsiders, std::span<const Member> members,
                         ProcessKey root, int proc, ProcBuffer& buffer) {
  // The root itself must be alive to say which cgroup is meant.
  if (std::none_of(members.begin(), members.end(),
                   [root](const Member& member) { return member.key == root; })) {
    return false;
  }
  const std::string path = job_cgroup(proc, root.pid, buffer);
  return std::all_of(outsiders.begin(), outsiders.end(), [&](const Outsider& other) {
    if (!in_cgroup(proc, other.key.pid, path, buffer)) return true;
    return reparented(other, outsiders) && other.key.start_ticks >= root.start_ticks;
  });
}

std::string job_cgroup(int proc, pid_t pid, ProcBuffer& buffer) {
  const PidDir dir(proc, pid, false);
  const ProcRead text = dir.read_once("cgroup", buffer);
  std::string_view unified;
  std::string_view systemd;
  for (const CgroupLine& line : parse_cgroup(text.bytes)) {
    if (line.controllers == "memory" && line.path != "/") return std::string(line.path);
    if (line.controllers.empty()) unified = line.path;
    if (line.controllers == "name=systemd") systemd = line.path;
  }
  if (unified.size() > 1) return std::string(unified);
  return systemd.size() > 1 ? std::string(systemd) : std::string();
}

bool may_be_a_jobs_cgroup(std::string_view path) {
  if (path.size() <= 1 || path.starts_with("/..")) return false;
  const std::string_view leaf = path.substr(path.rfind('/') + 1);
  if (leaf.ends_with(".slice") || leaf == "init.scope") return false;
  if (leaf.ends_with(".scope") && leaf.starts_with("session-")) return false;
  return !(leaf.ends_with(".service") && leaf.starts_with("user@"));
}

}  // namespace plateau
