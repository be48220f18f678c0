// SPDX-License-Identifier: Apache-2.0
// Holds a terminal in screen mode, and gives it back however the program ends.
//
// Screen mode is the alternate screen, no cursor, no wrapping, no echo, keys without a line end. A
// program that dies in it leaves its user with a shell that shows nothing. So every way out leads
// through one restore, which uses only what a signal handler may use:
//
//   end of scope, exception     the destructor
//   exit()                      an atexit handler
//   SIGINT TERM HUP QUIT        the first is only noted, so that the program can finish its work;
//                               the second restores and dies of it
//   SIGSEGV BUS FPE ILL ABRT    restores, then dies of it as it would have (on a stack of its own,
//                               because the old one may be what broke)
//   SIGTSTP                     restores and stops; SIGCONT enters again and asks for a redraw
//
// Blind spot: SIGKILL and _exit() leave no time for anything; `reset` helps then.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace plateau {

// What signals have said since the last look.
struct SignalNews {
  bool resized = false;
  bool resumed = false;  // The screen shows something else by now.
  int quit_signal = 0;   // SIGINT, SIGTERM, ...; 0: none.
};

// At most one per process at a time: signals know no other owner. Not thread-safe.
class TerminalGuard {
 public:
  // `tty_fd` takes modes, `out_fd` takes bytes; both stay the caller's and open. Fails if a guard
  // is alive or `tty_fd` is not a terminal.
  static Result<TerminalGuard> enter(int tty_fd, int out_fd);

  TerminalGuard(TerminalGuard&& other) noexcept : alive_(other.alive_) { other.alive_ = false; }
  TerminalGuard& operator=(TerminalGuard&&) = delete;
  TerminalGuard(const TerminalGuard&) = delete;
  TerminalGuard& operator=(const TerminalGuard&) = delete;
  ~TerminalGuard();

  // Readable when there is news.
  [[nodiscard]] int news_fd() const;
  // The signal that asked to end; 0: none.
  [[nodiscard]] int quit_signal() const;
  // Takes what is there; never waits.
  SignalNews take_news();

 private:
  TerminalGuard() = default;

  bool alive_ = true;
};

}  // namespace plateau
