// SPDX-License-Identifier: Apache-2.0
#include "census/stopped_process.h"

#include <dirent.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <string>
#include <utility>

#include "census/refusal.h"

namespace plateau {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Threads that did not stop in time are given this long to do so before they are left to the
// kernel, which lets them go when we end.
constexpr double kGraceSeconds = 2;

double seconds_since(SteadyClock::time_point since) {
  return std::chrono::duration<double>(SteadyClock::now() - since).count();
}

void nap() {
  const timespec time = {.tv_sec = 0, .tv_nsec = 50'000};
  ::nanosleep(&time, nullptr);
}

std::vector<pid_t> threads_of(pid_t pid) {
  std::vector<pid_t> found;
  DIR* directory = ::opendir(("/proc/" + std::to_string(pid) + "/task").c_str());
  if (directory == nullptr) return found;
  while (const dirent* entry = ::readdir(directory)) {
    const int tid = std::atoi(entry->d_name);
    if (tid > 0) found.push_back(tid);
  }
  ::closedir(directory);
  return found;
}

std::string status_path(pid_t pid, pid_t tid) {
  return "/proc/" + std::to_string(pid) + "/task/" + std::to_string(tid) + "/status";
}

bool has_ended(pid_t pid, pid_t tid) {
  const std::string state = status_field(status_path(pid, tid), "State");
  return state.empty() || state[0] == 'Z' || state[0] == 'X';
}

#if defined(__x86_64__)
// Calls that only wait: when one returns EINTR, nothing has been transferred.
bool only_waits(long number) {
  constexpr std::array<long, 14> kNumbers = {0 /* read */,
                                             1 /* write */,
                                             43 /* accept */,
                                             44 /* sendto */,
                                             45 /* recvfrom */,
                                             46 /* sendmsg */,
                                             47 /* recvmsg */,
                                             65 /* semop */,
                                             128 /* rt_sigtimedwait */,
                                             220 /* semtimedop */,
                                             232 /* epoll_wait */,
                                             281 /* epoll_pwait */,
                                             288 /* accept4 */,
                                             441 /* epoll_pwait2 */};
  return std::ranges::find(kNumbers, number) != kNumbers.end();
}

// True if a signal waits that the thread will take: then EINTR is the truth.
bool signal_waits(pid_t pid, pid_t tid) {
  const std::string path = status_path(pid, tid);
  const auto mask = [&](std::string_view name) {
    return std::strtoull(status_field(path, name).c_str(), nullptr, 16);
  };
  return ((mask("SigPnd") | mask("ShdPnd")) & ~mask("SigBlk")) != 0;
}

void issue_call_again(pid_t pid, pid_t tid) {
  user_regs_struct registers = {};
  if (::ptrace(PTRACE_GETREGS, tid, nullptr, &registers) != 0) return;
  const auto number = static_cast<long>(registers.orig_rax);
  if (static_cast<long>(registers.rax) != -EINTR || number < 0 || !only_waits(number)) return;
  if (signal_waits(pid, tid)) return;
  constexpr unsigned kSyscallInstructionBytes = 2;
  registers.rax = registers.orig_rax;
  registers.rip -= kSyscallInstructionBytes;
  ::ptrace(PTRACE_SETREGS, tid, nullptr, &registers);
}
#else
void issue_call_again(pid_t, pid_t) {}
#endif

}  // namespace

StoppedProcess::StoppedProcess(StoppedProcess&& other) noexcept
    : pid_(other.pid_), threads_(std::exchange(other.threads_, {})), since_(other.since_) {}

Result<StoppedProcess> StoppedProcess::stop(pid_t pid, double limit_s) {
  StoppedProcess stopped(pid);
  for (;;) {
    const Result<int> fresh = stopped.seize_new_threads();
    if (!fresh) return fresh.error();
    if (fresh.value() == 0) return stopped;
    if (!stopped.wait_for_stops(limit_s)) {
      return Error{.kind = Error::Kind::bad_input,
                   .message = refusal_text(pid,
                                           "a thread of it did not stop in time (it waits in "
                                           "the kernel, or the machine is overloaded)",
                                           "try again, or allow more with --max-stop")};
    }
    if (std::ranges::all_of(stopped.threads_, &Thread::gone)) {
      return Error{.kind = Error::Kind::not_found, .message = refusal_text(pid, "it ended", "")};
    }
  }
}

Result<int> StoppedProcess::seize_new_threads() {
  int fresh = 0;
  int refused = 0;
  for (const pid_t tid : threads_of(pid_)) {
    if (std::ranges::find(threads_, tid, &Thread::tid) != threads_.end()) continue;
    if (::ptrace(PTRACE_SEIZE, tid, nullptr, nullptr) != 0) {
      // A thread that ends meanwhile, and a leader that its threads outlive, cannot be seized.
      const int failed = errno;
      if (failed != ESRCH && !has_ended(pid_, tid)) refused = failed;
      continue;
    }
    threads_.push_back({.tid = tid});
    if (fresh == 0 && threads_.size() == 1) since_ = SteadyClock::now();
    ++fresh;
    ::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr);
  }
  if (refused != 0) return trace_refusal(pid_, refused);
  if (threads_.empty()) {
    return Error{.kind = Error::Kind::not_found,
                 .message = refusal_text(pid_, "it ended, or is a thread of the kernel", "")};
  }
  return fresh;
}

void StoppedProcess::take_stop(Thread& thread) {
  int status = 0;
  const pid_t got = ::waitpid(thread.tid, &status, __WALL | WNOHANG);
  if (got < 0 && errno != EINTR) thread.gone = true;
  if (got != thread.tid) return;
  if (!WIFSTOPPED(status)) {
    thread.gone = true;
    return;
  }
  thread.stopped = true;
  // Our own interruption and a stop by job control come as an event; everything else is a signal on
  // its way to the thread, which it gets when we let go.
  if (status >> 16 == 0) thread.signal = WSTOPSIG(status);
}

bool StoppedProcess::wait_for_stops(double until_s) {
  for (;;) {
    bool all = true;
    for (Thread& thread : threads_) {
      if (!thread.stopped && !thread.gone) take_stop(thread);
      all = all && (thread.stopped || thread.gone);
    }
    if (all) return true;
    if (stopped_s() > until_s) return false;
    nap();
  }
}

double StoppedProcess::stopped_s() const {
  return seconds_since(since_);
}

void StoppedProcess::let_go(Thread& thread) const {
  if (thread.signal == 0) issue_call_again(pid_, thread.tid);
  // The data of PTRACE_DETACH is the signal to deliver, passed in a pointer by its interface.
  ::ptrace(PTRACE_DETACH, thread.tid, nullptr,
           reinterpret_cast<void*>(static_cast<intptr_t>(thread.signal)));  // NOLINT
  thread.gone = true;
}

double StoppedProcess::release() {
  if (threads_.empty()) return 0;
  for (Thread& thread : threads_) {
    if (thread.stopped && !thread.gone) let_go(thread);
  }
  const double stood_s = stopped_s();
  const double end_s = stood_s + kGraceSeconds;
  while (std::ranges::any_of(threads_, [](const Thread& thread) { return !thread.gone; }) &&
         stopped_s() < end_s) {
    for (Thread& thread : threads_) {
      if (thread.gone) continue;
      take_stop(thread);
      if (thread.stopped && !thread.gone) let_go(thread);
    }
    nap();
  }
  threads_.clear();
  return stood_s;
}

}  // namespace plateau
