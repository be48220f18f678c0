// SPDX-License-Identifier: Apache-2.0
#include "ptrace/stopped_process.h"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <ranges>
#include <utility>

#include "ptrace/refusal.h"

namespace plateau {
namespace {

// Threads that did not stop in time are given this long to do so before they are left to the
// kernel, which lets them go when we end.
constexpr auto kGrace = std::chrono::seconds(2);
// Before all that runs as usual, behind what the system itself needs.
constexpr int kHastyNice = -15;
// The lowest: any thread that has one for a reason of its own still goes first.
constexpr int kHastyPriority = 1;

void nap() {
  const timespec time = {.tv_sec = 0, .tv_nsec = 50'000};
  ::nanosleep(&time, nullptr);
}

}  // namespace

// On Linux both are a thread's own. A thread that is not scheduled as usual keeps what it has, and
// the kernel keeps some of each second from all that have a real-time priority.
Haste::Haste() : before_(getpriority(PRIO_PROCESS, 0)), means_(Means::none) {
  const sched_param first = {.sched_priority = kHastyPriority};
  if (sched_getscheduler(0) == SCHED_OTHER && sched_setscheduler(0, SCHED_RR, &first) == 0) {
    means_ = Means::real_time;
  } else if (before_ > kHastyNice && setpriority(PRIO_PROCESS, 0, kHastyNice) == 0) {
    means_ = Means::nice;
  }
}

Haste::Haste(Haste&& other) noexcept
    : before_(other.before_), means_(std::exchange(other.means_, Means::none)) {}

Haste::~Haste() {
  const sched_param usual = {};
  if (means_ == Means::real_time) sched_setscheduler(0, SCHED_OTHER, &usual);
  if (means_ == Means::nice) setpriority(PRIO_PROCESS, 0, before_);
}

Result<StoppedProcess> StoppedProcess::stop(pid_t pid, double limit_s) {
  StoppedProcess stopped(pid);
  for (;;) {
    const Result<size_t> fresh = stopped.seize_new_threads();
    if (!fresh) return fresh.error();
    if (fresh.value() == 0) return stopped;
    if (!stopped.wait_for_stops(limit_s)) {
      return cannot_trace(pid,
                          "a thread of it did not stop in time (it waits in the kernel, or the "
                          "machine is overloaded)",
                          "try again, or allow more with --max-stop", Error::Kind::bad_input);
    }
    if (std::ranges::all_of(stopped.threads_, &Tracee::gone)) {
      return cannot_trace(pid, "it ended", "");
    }
  }
}

Result<size_t> StoppedProcess::seize_new_threads() {
  size_t fresh = 0;
  for (const pid_t tid : threads_of(pid_)) {
    if (std::ranges::find(threads_, tid, &Tracee::tid) != threads_.end()) continue;
    std::optional<Tracee> thread = Tracee::seize(tid);
    if (!thread) {
      // A thread that ends meanwhile, and a leader that its threads outlive, cannot be seized.
      if (const Result<void> ended = check_failed_seize(pid_, tid, errno); !ended) {
        return ended.error();
      }
      continue;
    }
    if (threads_.empty()) since_ = TraceClock::now();
    thread->interrupt();
    threads_.push_back(std::move(*thread));
    ++fresh;
  }
  if (threads_.empty()) return cannot_trace(pid_, "it ended, or is a thread of the kernel", "");
  return fresh;
}

bool StoppedProcess::wait_for_stops(double until_s) {
  for (;;) {
    bool all = true;
    for (Tracee& thread : threads_) {
      if (!thread.stopped()) thread.look();
      all = all && (thread.stopped() || thread.gone());
    }
    if (all) return true;
    if (stopped_s() > until_s) return false;
    nap();
  }
}

double StoppedProcess::stopped_s() const {
  return std::chrono::duration<double>(TraceClock::now() - since_).count();
}

double StoppedProcess::release() {
  if (threads_.empty()) return 0;
  // Those that stand still first: they must not wait for the others. The process's first thread
  // last: if it was killed, its end is told after that of all others.
  const auto until = TraceClock::now() + kGrace;
  for (Tracee& thread : std::views::reverse(threads_)) {
    if (!thread.stopped()) continue;
    thread.mend_call();
    thread.release(until);
  }
  const double stood_s = stopped_s();
  for (Tracee& thread : std::views::reverse(threads_)) {
    if (!thread.release(until)) thread.abandon();
  }
  threads_.clear();
  haste_.reset();
  return stood_s;
}

}  // namespace plateau
