// SPDX-License-Identifier: Apache-2.0
#include "session/leftovers.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <fstream>

#include "session/machine.h"

namespace plateau {
namespace {

std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> all;
  std::ifstream file(fmt::format("/proc/{}/task/{}/children", pid, pid));
  for (pid_t child = 0; file >> child;) all.push_back(child);
  return all;
}

// Signals a process and everything below it, the deepest last: a parent that is told first cannot
// start its children anew.
void signal_tree(pid_t pid, int number, int depth) {
  const std::vector<pid_t> children = depth < 32 ? children_of(pid) : std::vector<pid_t>();
  kill(pid, number);
  for (const pid_t child : children) signal_tree(child, number, depth + 1);
}

void reap() {
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

}  // namespace

std::vector<pid_t> children_left(std::span<const pid_t> known) {
  std::vector<pid_t> left;
  for (const pid_t child : children_of(getpid())) {
    if (std::find(known.begin(), known.end(), child) != known.end()) continue;
    siginfo_t info = {};
    // A zombie is only an entry; WNOWAIT leaves it for reap().
    const bool ended =
        waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == child;
    if (!ended) left.push_back(child);
  }
  return left;
}

size_t end_leftovers(pid_t group, std::span<const pid_t> known, double grace_s) {
  const std::vector<pid_t> first = children_left(known);
  kill(-group, SIGTERM);
  for (const pid_t child : first) signal_tree(child, SIGTERM, 0);
  const double deadline_s = monotonic_now_s() + grace_s;
  while (!children_left(known).empty() && monotonic_now_s() < deadline_s) {
    poll(nullptr, 0, 20);
    // Relays are somebody else's to wait for, but a zombie relay does no harm.
  }
  kill(-group, SIGKILL);
  for (int round = 0; round < 50; ++round) {
    const std::vector<pid_t> left = children_left(known);
    if (left.empty()) break;
    for (const pid_t child : left) signal_tree(child, SIGKILL, 0);
    poll(nullptr, 0, 20);
  }
  reap();
  return first.size();
}

}  // namespace plateau
