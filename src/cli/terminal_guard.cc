// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal_guard.h"

#include <fcntl.h>
#include <signal.h>  // NOLINT: sigaction is POSIX, <csignal> does not promise it.
#include <termios.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "base/files.h"

namespace plateau {
namespace {

constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?7l\x1b[?25l\x1b[2J";
constexpr std::string_view kLeave = "\x1b[?2026l\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";
constexpr size_t kStackBytes = size_t{64} << 10U;

constexpr std::array<int, 4> kQuit = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
constexpr std::array<int, 5> kCrash = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr std::array<int, 3> kOther = {SIGWINCH, SIGTSTP, SIGCONT};
constexpr size_t kSignals = kQuit.size() + kCrash.size() + kOther.size();

// What a handler needs. A handler takes no argument of ours, hence the one static in this program;
// it is written only while `active` is false, and handlers look at nothing else before `active`.
struct Held {
  std::atomic<bool> active = false;
  std::atomic<bool> entered = false;  // The terminal is in screen mode right now.
  int tty_fd = -1;
  int out_fd = -1;
  int news_read = -1;
  int news_write = -1;
  termios before = {};
  termios during = {};
  std::atomic<int> quit_signal = 0;
  std::array<struct sigaction, kSignals> old_actions = {};
  stack_t old_stack = {};
  std::unique_ptr<char[]> stack;  // NOLINT: raw bytes for sigaltstack.
};

Held& held() {
  static Held instance;
  return instance;
}

// All of these are safe in a handler: write, tcsetattr, sigaction, raise and lock-free atomics.

// A background job that touches its terminal's modes is stopped for it; while leaving that would
// mean never to leave.
void leave_screen() {
  Held& state = held();
  if (!state.entered.exchange(false)) return;
  sigset_t ttou;
  sigset_t old;
  sigemptyset(&ttou);
  sigaddset(&ttou, SIGTTOU);
  sigprocmask(SIG_BLOCK, &ttou, &old);
  write_all(state.out_fd, kLeave);
  tcsetattr(state.tty_fd, TCSANOW, &state.before);
  sigprocmask(SIG_SETMASK, &old, nullptr);
}

void enter_screen() {
  Held& state = held();
  tcsetattr(state.tty_fd, TCSANOW, &state.during);
  write_all(state.out_fd, kEnter);
  state.entered = true;
}

void tell(char what) {
  const int saved = errno;
  // A full pipe has news enough.
  [[maybe_unused]] const ssize_t wrote = write(held().news_write, &what, 1);
  errno = saved;
}

void die_of(int signal) {
  leave_screen();
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  raise(signal);
}

void on_quit(int signal) {
  int none = 0;
  if (!held().quit_signal.compare_exchange_strong(none, signal)) die_of(signal);
  tell('q');
}

void on_crash(int signal) {
  die_of(signal);
}

void set_handler(int signal, void (*handler)(int), int flags, struct sigaction* old);

void on_stop(int signal) {
  const int saved = errno;
  leave_screen();
  struct sigaction ours;
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, &ours);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  raise(signal);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);  // Stops here, until SIGCONT.
  sigprocmask(SIG_BLOCK, &only, nullptr);
  sigaction(signal, &ours, nullptr);
  // An orphaned process group does not stop, and no SIGCONT comes.
  if (!held().entered) enter_screen();
  tell('r');
  errno = saved;
}

void on_continue(int /*signal*/) {
  const int saved = errno;
  // After SIGSTOP nothing was restored, but the shell has changed modes since.
  enter_screen();
  tell('r');
  errno = saved;
}

void on_resize(int /*signal*/) {
  tell('w');
}

void set_handler(int signal, void (*handler)(int), int flags, struct sigaction* old) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(signal, nullptr, old);
  // What the parent chose to ignore (nohup) stays ignored.
  const bool ignored = old->sa_handler == SIG_IGN && handler == on_quit;
  if (!ignored) sigaction(signal, &action, nullptr);
}

void install_handlers() {
  Held& state = held();
  state.stack = std::make_unique<char[]>(kStackBytes);  // NOLINT
  stack_t stack = {};
  stack.ss_sp = state.stack.get();
  stack.ss_size = kStackBytes;
  sigaltstack(&stack, &state.old_stack);
  auto old = state.old_actions.begin();
  for (const int signal : kQuit) set_handler(signal, on_quit, 0, &*old++);
  for (const int signal : kCrash) set_handler(signal, on_crash, 0, &*old++);
  set_handler(SIGWINCH, on_resize, SA_RESTART, &*old++);
  set_handler(SIGTSTP, on_stop, SA_RESTART, &*old++);
  set_handler(SIGCONT, on_continue, SA_RESTART, &*old++);
}

void remove_handlers() {
  Held& state = held();
  auto old = state.old_actions.begin();
  for (const int signal : kQuit) sigaction(signal, &*old++, nullptr);
  for (const int signal : kCrash) sigaction(signal, &*old++, nullptr);
  for (const int signal : kOther) sigaction(signal, &*old++, nullptr);
  sigaltstack(&state.old_stack, nullptr);
  state.stack.reset();
}

// Signals stay signals (ISIG: ^C, ^Z), but ^S no longer freezes the screen, and the watcher with
// it.
termios screen_mode(termios mode) {
  mode.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ECHONL | IEXTEN);
  mode.c_iflag &= ~static_cast<tcflag_t>(IXON | ICRNL | INLCR | IGNCR | ISTRIP);
  mode.c_cc[VMIN] = 1;
  mode.c_cc[VTIME] = 0;
  return mode;
}

}  // namespace

Result<TerminalGuard> TerminalGuard::enter(int tty_fd, int out_fd) {
  Held& state = held();
  if (state.active) return usage_error("the terminal is in use already");
  if (tcgetattr(tty_fd, &state.before) != 0) {
    return usage_error("the live screen needs a terminal");
  }
  std::array<int, 2> ends = {};
  if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    return usage_error("no pipe for signals: too many open files");
  }
  state.during = screen_mode(state.before);
  state.tty_fd = tty_fd;
  state.out_fd = out_fd;
  state.news_read = ends[0];
  state.news_write = ends[1];
  state.quit_signal = 0;
  state.active = true;
  static const bool registered = std::atexit(leave_screen) == 0;
  static_cast<void>(registered);
  install_handlers();
  enter_screen();
  return TerminalGuard();
}

TerminalGuard::~TerminalGuard() {
  if (!alive_) return;
  Held& state = held();
  leave_screen();
  remove_handlers();
  state.active = false;
  close(state.news_read);
  close(state.news_write);
}

int TerminalGuard::news_fd() const {
  return held().news_read;
}

int TerminalGuard::quit_signal() const {
  return held().quit_signal;
}

SignalNews TerminalGuard::take_news() {
  SignalNews news;
  std::array<char, 64> bytes = {};
  for (ssize_t got = 1; got > 0;) {
    got = read(held().news_read, bytes.data(), bytes.size());
    for (ssize_t i = 0; i < got; ++i) {
      news.resized = news.resized || bytes[static_cast<size_t>(i)] == 'w';
      news.resumed = news.resumed || bytes[static_cast<size_t>(i)] == 'r';
    }
  }
  news.quit_signal = quit_signal();
  return news;
}

}  // namespace plateau
