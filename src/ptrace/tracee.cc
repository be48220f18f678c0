// SPDX-License-Identifier: Apache-2.0
#include "ptrace/tracee.h"

#include <fmt/format.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <string>
#include <utility>

#include "base/files.h"
#include "ptrace/ask.h"

namespace plateau {
namespace {

constexpr size_t kKernelMaskBytes = 8;
constexpr auto kEndLimit = std::chrono::milliseconds(100);  // For a killed thread to end.

// Of a process that is not our child, and of threads beside a child's first, the kernel knows no
// news for us. Requires: not seized yet.
bool is_own_child(pid_t tid) {
  siginfo_t news = {};
  return ::waitid(P_PID, static_cast<id_t>(tid), &news, WEXITED | WNOWAIT | WNOHANG | __WALL) == 0;
}

void pause_for(std::chrono::microseconds time) {
  timespec pause = {.tv_sec = 0, .tv_nsec = static_cast<long>(time.count()) * 1000};
  ::nanosleep(&pause, nullptr);
}

}  // namespace

std::optional<Tracee> Tracee::seize(pid_t tid) {
  const long options = PTRACE_O_TRACEEXEC;
  const bool own_child = is_own_child(tid);
  if (!asked(PTRACE_SEIZE, tid, nullptr, options)) return std::nullopt;
  Tracee thread(tid);
  thread.own_child_ = own_child;
  return thread;
}

Tracee& Tracee::operator=(Tracee&& other) noexcept {
  if (this != &other) {
    give_up();
    HeldThread::operator=(std::exchange(other.held(), {}));
  }
  return *this;
}

Tracee::~Tracee() {
  give_up();
}

void Tracee::give_up() {
  if (tid_ < 0) return;
  // Debug registers outlive the tracer: a thread that kept one would die of the next trap.
  release(TraceClock::now() + std::chrono::seconds(armed_ ? 30 : 2));
  tid_ = -1;
}

bool Tracee::interrupt() {
  return stopped_ || tid_ < 0 || asked(PTRACE_INTERRUPT, tid_, nullptr, nullptr);
}

bool Tracee::interrupt_stopped() {
  return asked(PTRACE_INTERRUPT, tid_, nullptr, nullptr);
}

ThreadStop Tracee::take(int status) {
  stopped_ = false;
  signal_ = 0;
  if (!WIFSTOPPED(status)) {
    tid_ = -1;
    return {.kind = ThreadStop::Kind::gone, .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0};
  }
  stopped_ = true;
  const int event = status >> 16;
  const int signal = WSTOPSIG(status);
  if (event == PTRACE_EVENT_EXEC) return {.kind = ThreadStop::Kind::exec};
  if (event == PTRACE_EVENT_STOP) {
    const bool group =
        signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
    return {.kind = group ? ThreadStop::Kind::group : ThreadStop::Kind::interrupt,
            .signal = signal};
  }
  siginfo_t info = {};
  const bool known = asked(PTRACE_GETSIGINFO, tid_, nullptr, &info);
  const bool from_kernel = known && info.si_code > 0 && info.si_code != SI_KERNEL;
  // A trap of a breakpoint or of a step is ours; the thread is not to see it.
  const bool ours = signal == SIGTRAP && from_kernel && (armed_ || stepping_);
  stepping_ = false;
  signal_ = ours ? 0 : signal;
  return {.kind = ThreadStop::Kind::signal, .signal = signal, .from_kernel = from_kernel};
}

ThreadStop Tracee::look() {
  if (tid_ < 0) return {.kind = ThreadStop::Kind::gone};
  if (own_child_) {
    siginfo_t news = {};
    const int flags = WSTOPPED | WEXITED | WNOWAIT | WNOHANG | __WALL;
    if (::waitid(P_PID, static_cast<id_t>(tid_), &news, flags) == 0 && news.si_pid == tid_ &&
        (news.si_code == CLD_EXITED || news.si_code == CLD_KILLED || news.si_code == CLD_DUMPED)) {
      tid_ = -1;
      stopped_ = false;
      return {.kind = ThreadStop::Kind::gone,
              .signal = news.si_code == CLD_EXITED ? 0 : news.si_status};
    }
  }
  int status = 0;
  const pid_t found = ::waitpid(tid_, &status, __WALL | WNOHANG);
  if (found == 0) return {};
  if (found == tid_) return take(status);
  if (errno == EINTR) return {};
  tid_ = -1;
  return {.kind = ThreadStop::Kind::gone};
}

ThreadStop Tracee::wait(TraceClock::time_point until) {
  std::chrono::microseconds pause(10);
  while (true) {
    const ThreadStop stop = look();
    if (stop.kind != ThreadStop::Kind::none) return stop;
    if (TraceClock::now() >= until) return {};
    pause_for(pause);
    pause = std::min(pause * 3 / 2, std::chrono::microseconds(500));
  }
}

bool Tracee::go_on(int signal) {
  stopped_ = false;
  signal_ = 0;
  return asked(PTRACE_CONT, tid_, nullptr, static_cast<long>(signal));
}

bool Tracee::step() {
  stepping_ = true;
  stopped_ = false;
  signal_ = 0;
  return asked(PTRACE_SINGLESTEP, tid_, nullptr, nullptr);
}

bool Tracee::listen() {
  stopped_ = false;
  return asked(PTRACE_LISTEN, tid_, nullptr, nullptr);
}

std::optional<uint64_t> Tracee::signal_mask() const {
  uint64_t mask = 0;
  if (!asked(PTRACE_GETSIGMASK, tid_, kKernelMaskBytes, &mask)) return std::nullopt;
  return mask;
}

bool Tracee::set_signal_mask(uint64_t mask) {
  return asked(PTRACE_SETSIGMASK, tid_, kKernelMaskBytes, &mask);
}

bool Tracee::signal_pending(int signal) const {
  std::array<siginfo_t, 32> found = {};
  __ptrace_peeksiginfo_args arguments = {.off = 0, .flags = 0, .nr = 32};
  const long count = ::ptrace(PTRACE_PEEKSIGINFO, tid_, &arguments, found.data());
  for (long i = 0; i < count; ++i) {
    if (found[static_cast<size_t>(i)].si_signo == signal) return true;
  }
  return false;
}

bool Tracee::release(TraceClock::time_point until) {
  if (tid_ < 0) return true;
  while (!stopped_) {
    interrupt();
    const ThreadStop stop = wait(until);
    if (stop.kind == ThreadStop::Kind::gone) return true;
    if (stop.kind == ThreadStop::Kind::none) return false;
    if (stop.kind == ThreadStop::Kind::interrupt) mend_call();
  }
  if (armed_) {
    clear_breakpoints();
    // The trap of a breakpoint that was hit just now still waits; it would kill an untraced thread.
    while (signal_ == 0 && signal_pending(SIGTRAP)) {
      go_on(0);
      const ThreadStop stop = wait(until);
      if (stop.kind == ThreadStop::Kind::gone) return true;
      if (stop.kind == ThreadStop::Kind::none) return false;
    }
    armed_ = false;
  }
  bool let_go = asked(PTRACE_DETACH, tid_, nullptr, static_cast<long>(signal_));
  stopped_ = false;
  // It was killed meanwhile. Its end is for us to note: the process stays a zombie as long as a
  // tracer has not taken note of each of its threads.
  if (!let_go) {
    let_go = wait(std::min(until, TraceClock::now() + kEndLimit)).kind == ThreadStop::Kind::gone;
  }
  tid_ = -1;
  return let_go;
}

uint64_t mask_of_faults() {
  return bit_of(SIGSEGV) | bit_of(SIGBUS) | bit_of(SIGILL) | bit_of(SIGFPE) | bit_of(SIGTRAP) |
         bit_of(SIGSYS);
}

std::vector<pid_t> threads_of(pid_t pid) {
  return pids_in(fmt::format("/proc/{}/task", pid));
}

}  // namespace plateau
