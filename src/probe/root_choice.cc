// SPDX-License-Identifier: Apache-2.0
#include "probe/root_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

#include "probe/proc_dir.h"
#include "probe/proc_files.h"
#include "probe/program.h"

namespace plateau {
namespace {

struct Ancestor {
  ProcessKey key;
  pid_t ppid = 0;
  char state = '?';
  SeenProgram program;
};

// Nobody nests jobs this deep; a loop in a forged tree ends here.
constexpr size_t kMaxClimb = 64;

std::optional<Ancestor> look(int proc, pid_t pid, ProcBuffer& buffer, int& error) {
  const PidDir dir(proc, pid, false);
  const ProcRead stat_text = dir.read_once("stat", buffer);
  error = stat_text.error;
  const auto stat = parse_stat(stat_text.bytes);
  if (!stat) return std::nullopt;
  Ancestor ancestor{.key = {pid, stat->start_ticks}, .ppid = stat->ppid, .state = stat->state};
  const std::string comm(stat->comm);
  const ProcRead cmdline = dir.read_once("cmdline", buffer);
  ancestor.program = describe_program(cmdline.bytes, comm);
  return ancestor;
}

// Why the climb does not go on to `parent`; empty if it does.
std::string why_stop(const Ancestor& child, const Ancestor& parent) {
  switch (parent.program.kind) {
    case ProgramKind::launcher:
      return {};
    case ProgramKind::interactive_shell:
      return fmt::format("its parent is a shell ({})", parent.program.label);
    case ProgramKind::service:
      return fmt::format("its parent is {}", parent.program.label);
    default:
      break;
  }
  if (parent.program.python && child.program.python) return {};
  // A pool of a program that is not Python: forked, so it runs the same command.
  if (parent.program.command_hash != 0 &&
      parent.program.command_hash == child.program.command_hash) {
    return {};
  }
  return fmt::format("its parent {} is no launcher", parent.program.label);
}

// This process and all above it, in the same /proc.
std::vector<pid_t> own_line(int proc, ProcBuffer& buffer) {
  std::vector<pid_t> line;
  int error = 0;
  for (pid_t pid = own_pid_in(proc); pid > 1 && line.size() < kMaxClimb;) {
    line.push_back(pid);
    const auto at = look(proc, pid, buffer, error);
    if (!at) break;
    pid = at->ppid;
  }
  return line;
}

}  // namespace

Result<RootChoice> choose_root(int proc, pid_t pid, std::span<const pid_t> exclude,
                               bool exact_root) {
  ProcBuffer buffer;
  int error = 0;
  auto at = look(proc, pid, buffer, error);
  if (!at) {
    const char* why =
        error == 0 || error == ENOENT || error == ESRCH ? "no such process" : std::strerror(error);
    return Error{Error::Kind::not_found,
                 fmt::format("pid {}: {}; `ps -eo pid,rss,args --sort=-rss | head` lists the "
                             "largest processes",
                             pid, why)};
  }
  if (at->state == 'Z' || at->state == 'X') {
    return Error{Error::Kind::not_found,
                 fmt::format("pid {} ({}) has ended and only waits for its parent to notice", pid,
                             at->program.label)};
  }
  if (exact_root) return RootChoice{at->key, "as asked"};
  const std::vector<pid_t> ours = own_line(proc, buffer);
  const std::string asked = fmt::format("{} ({})", pid, at->program.label);
  std::string stop;
  size_t climbed = 0;
  for (; climbed < kMaxClimb; ++climbed) {
    if (at->ppid <= 1) {
      stop = at->ppid == 1 ? "its parent is init" : "it has no parent here";
      break;
    }
    if ((!ours.empty() && at->ppid == ours.front()) ||
        std::find(exclude.begin(), exclude.end(), at->ppid) != exclude.end()) {
      stop = "its parent is the watcher";
      break;
    }
    if (std::find(ours.begin(), ours.end(), at->ppid) != ours.end()) {
      stop = "its parent also started this watcher";
      break;
    }
    const auto parent = look(proc, at->ppid, buffer, error);
    // A parent younger than its child is another process that got the pid meanwhile.
    if (!parent || parent->key.start_ticks > at->key.start_ticks) {
      stop = "its parent cannot be read";
      break;
    }
    stop = why_stop(*at, *parent);
    if (!stop.empty()) break;
    at = parent;
  }
  if (climbed == 0) return RootChoice{at->key, stop};
  return RootChoice{
      at->key,
      fmt::format("{} above {}; {}", climbed == 1 ? "one step" : fmt::format("{} steps", climbed),
                  asked, stop)};
}

}  // namespace plateau
