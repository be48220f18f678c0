// SPDX-License-Identifier: Apache-2.0
#include "session/leftovers.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>

#include <csignal>

#include "session/machine.h"
#include "session/testing/child.h"

namespace plateau {
namespace {

// In a fresh process that adopts orphans, as a supervisor is.
int as_supervisor(const std::function<int()>& body) {
  return in_child([&] {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    return body();
  });
}

// A daemon: in a session of its own, its parent gone. Says its pid when it is ready.
pid_t make_daemon(bool stubborn, bool with_child = false) {
  Pipe pipe;
  const pid_t first = fork();
  if (first == 0) {
    setsid();
    if (fork() != 0) _exit(0);
    if (stubborn) std::signal(SIGTERM, SIG_IGN);
    if (with_child && fork() == 0) {
      pause();
      _exit(0);
    }
    const pid_t pid = getpid();
    [[maybe_unused]] const ssize_t n = write(pipe.in.get(), &pid, sizeof pid);
    alarm(60);
    while (true) pause();
  }
  waitpid(first, nullptr, 0);
  pid_t daemon = -1;
  if (read(pipe.out.get(), &daemon, sizeof daemon) != sizeof daemon) return -1;
  return daemon;
}

bool is_gone(pid_t pid) {
  return kill(pid, 0) != 0;
}

TEST(Leftovers, ADaemonIsFoundAndEnded) {
  EXPECT_EQ(as_supervisor([] {
              const pid_t daemon = make_daemon(false);
              if (children_left({}) != std::vector<pid_t>{daemon}) return 1;
              if (end_leftovers(daemon, {}, 5) != 1) return 2;
              return is_gone(daemon) ? 0 : 3;
            }),
            0);
}

TEST(Leftovers, OneThatIgnoresTheRequestIsKilledAfterTheGrace) {
  EXPECT_EQ(as_supervisor([] {
              const pid_t daemon = make_daemon(true);
              const double before_s = monotonic_now_s();
              end_leftovers(daemon, {}, 0.3);
              if (monotonic_now_s() - before_s < 0.3) return 1;
              return is_gone(daemon) ? 0 : 2;
            }),
            0);
}

TEST(Leftovers, TheirChildrenGoWithThem) {
  EXPECT_EQ(as_supervisor([] {
              make_daemon(true, true);
              end_leftovers(getpid() + 0x100000, {}, 0.2);
              if (!children_left({}).empty()) return 1;
              return waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD ? 0 : 2;
            }),
            0);
}

TEST(Leftovers, RelaysAndZombiesAreNone) {
  EXPECT_EQ(as_supervisor([] {
              const pid_t relay = fork();
              if (relay == 0) {
                pause();
                _exit(0);
              }
              const pid_t zombie = fork();
              if (zombie == 0) _exit(0);
              siginfo_t info = {};
              waitid(P_PID, static_cast<id_t>(zombie), &info, WEXITED | WNOWAIT);
              const std::vector<pid_t> known = {relay};
              if (!children_left(known).empty()) return 1;
              if (end_leftovers(zombie, known, 1) != 0) return 2;
              const bool alive = !is_gone(relay);
              kill(relay, SIGKILL);
              return alive ? 0 : 3;
            }),
            0);
}

}  // namespace
}  // namespace plateau
