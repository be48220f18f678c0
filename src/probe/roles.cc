// SPDX-License-Identifier: Apache-2.0
#include "probe/roles.h"

#include <fmt/format.h>

#include <algorithm>

namespace plateau {
namespace {

constexpr int64_t kWrapperMostKb = int64_t{1024} * 1024;
constexpr size_t kNobody = SIZE_MAX;

struct Given {
  Role role = Role::unknown;
  std::string reason;
};

bool same_image(const Member& child, const Member& parent) {
  if (child.program.command_hash != parent.program.command_hash) return false;
  // Without permission the kernel shows no addresses; then the command line decides alone.
  return child.start_stack == parent.start_stack && child.start_code == parent.start_code;
}

bool is_worker(const Member& member) {
  return member.program.kind == ProgramKind::spawned_worker ||
         (member.forked && member.parent_index != kNobody) ||
         member.comm.starts_with("pt_data_worker");
}

void relate(std::vector<Member>& members) {
  for (Member& member : members) {
    const auto parent = std::ranges::find(members, member.parent,
                                          [](const Member& other) { return other.key.pid; });
    // A parent younger than its child is another process that got the pid.
    const bool known = parent != members.end() && parent->key.start_ticks <= member.key.start_ticks;
    member.parent_index = known ? static_cast<size_t>(parent - members.begin()) : kNobody;
  }
  for (Member& member : members) {
    if (member.parent_index == kNobody) continue;
    Member& parent = members[member.parent_index];
    member.forked = same_image(member, parent);
    parent.had_children = true;
    if (is_worker(member) && parent.program.kind != ProgramKind::fork_server) {
      parent.had_workers = true;
    }
  }
}

// A worker, if it is one: the parent's program tells what for.
Given worker_role(const Member& member, const Member* parent) {
  if (member.program.kind == ProgramKind::compile_worker) {
    return {Role::compile_worker, "runs torch's compile_worker"};
  }
  if (member.comm.starts_with("pt_data_worker")) {
    return {Role::data_worker, "names itself pt_data_worker"};
  }
  const bool spawned = member.program.kind == ProgramKind::spawned_worker;
  const bool forked = member.forked && parent != nullptr;
  if (!spawned && !forked) return {};
  if (forked && parent->program.kind == ProgramKind::launcher) {
    return parent->program.python ? Given{Role::main, "forked by a launcher"}
                                  : Given{Role::wrapper, "a shell's own fork"};
  }
  if (member.had_workers) {
    return {Role::main, fmt::format("{} by pid {}, has workers of its own",
                                    spawned ? "spawned" : "forked", member.parent)};
  }
  if (spawned) return {Role::data_worker, "spawned by Python's multiprocessing"};
  return {Role::data_worker, fmt::format("forked by pid {}, same command line", member.parent)};
}

Given first_role(const Member& member, const Member* parent, bool is_root, bool python_in_tree) {
  Given worker = worker_role(member, parent);
  if (worker.role != Role::unknown) return worker;
  const std::string& label = member.program.label;
  switch (member.program.kind) {
    case ProgramKind::launcher:
      if (member.outgrew) return {Role::main, "a launcher that holds more than its children"};
      return {Role::wrapper,
              fmt::format("runs {}{}", label, member.had_children ? ", has children" : "")};
    case ProgramKind::fork_server:
      return {Role::helper, "multiprocessing's fork server"};
    case ProgramKind::helper:
      if (!is_root) return {Role::helper, "runs " + label};
      break;
    default:
      break;
  }
  if (is_root) return {Role::main, "the topmost process"};
  if (member.outgrew)
    return {Role::main, fmt::format("holds more than its parent {}", member.parent)};
  const bool under_wrapper = parent != nullptr && parent->program.kind == ProgramKind::launcher;
  if (under_wrapper && member.program.python) {
    return {Role::main, "Python under " + parent->program.label};
  }
  if (under_wrapper && !python_in_tree) return {Role::main, "started by " + parent->program.label};
  return {Role::helper, "started by pid " + std::to_string(member.parent)};
}

}  // namespace

void assign_roles(std::vector<Member>& members, ProcessKey root) {
  relate(members);
  const bool python_in_tree = std::any_of(members.begin(), members.end(), [](const Member& m) {
    return m.program.kind == ProgramKind::python;
  });
  for (Member& member : members) {
    const bool orphaned_before = member.role == Role::orphan;
    const bool is_root = member.key == root;
    if (member.found_orphaned) {
      member.role = Role::orphan;
      member.role_reason = member.orphan_reason;
      continue;
    }
    const Member* parent = member.parent_index == kNobody ? nullptr : &members[member.parent_index];
    // Whose parent is gone keeps the role it had, but for those who worked for that parent.
    if (parent == nullptr && !is_root && member.role != Role::unknown) {
      if (orphaned_before || member.role == Role::main || member.role == Role::wrapper) continue;
      member.role = Role::orphan;
      member.role_reason = fmt::format("its parent {} ended", member.parent);
      continue;
    }
    Given given = first_role(member, parent, is_root, python_in_tree);
    member.role = given.role;
    member.role_reason = std::move(given.reason);
  }
}

bool note_growth(std::vector<Member>& members) {
  bool changed = false;
  for (Member& member : members) {
    if (member.outgrew) continue;
    const int64_t anon = member.figures.anon_kb;
    if (member.program.kind == ProgramKind::launcher) {
      if (anon <= kWrapperMostKb) continue;
      const size_t own = static_cast<size_t>(&member - members.data());
      member.outgrew = std::none_of(members.begin(), members.end(), [&](const Member& other) {
        return other.parent_index == own && other.figures.anon_kb >= anon;
      });
    } else if (member.role == Role::helper && member.parent_index < members.size() &&
               member.program.kind != ProgramKind::helper) {
      const Member& parent = members[member.parent_index];
      constexpr int64_t kClearlyKb = int64_t{100} * 1024;
      member.outgrew = parent.role == Role::main && anon > parent.figures.anon_kb + kClearlyKb;
    }
    changed |= member.outgrew;
  }
  return changed;
}

}  // namespace plateau
