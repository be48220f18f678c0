// SPDX-License-Identifier: Apache-2.0
// Finds a thread of a process that can be made to call a function.
//
// First the threads that sleep: /proc says for each blocked thread in which system call it is,
// without stopping it. One in a call that no allocator makes is stopped, and its registers are
// looked at again: it must stand right behind a `syscall` instruction with the kernel about to make
// the call again. If the sleep happens inside a signal handler, whatever the handler interrupted
// may hold locks: such a thread has the handler's return into the kernel on its stack and is passed
// over. (Stale words on a stack can only make us too careful.)
//
// Else breakpoints in the debug registers of every thread, on the entries of malloc, free, calloc
// and realloc. The first thread to run into one is taken; all others are stopped once more for a
// moment to take the breakpoints back. Threads that block SIGTRAP get none: the kernel would then
// change their handling of that signal. While breakpoints are out, sleepers are looked for again
// every 25 ms.
//
// Measured times are in docs/experiments.md.
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/files.h"
#include "inject/safe_point.h"
#include "inject/sleep_calls.h"
#include "ptrace/memory.h"
#include "ptrace/refusal.h"

namespace plateau {
namespace {

using Kind = ThreadStop::Kind;

constexpr auto kStopLimit = std::chrono::seconds(2);
constexpr auto kSleeperInterval = std::chrono::milliseconds(25);
constexpr size_t kStackLook = size_t{64} * 1024;
constexpr uint64_t kPageBytes = 4096;

struct Sleeper {
  pid_t tid = 0;
  std::string call;
};

// Futex waits last: they are the least certain of all.
std::vector<Sleeper> sleepers_of(pid_t pid, bool allocator_may_sleep) {
  std::vector<Sleeper> sleepers;
  for (const pid_t tid : threads_of(pid)) {
    const auto call =
        parse_blocked_call(text_of_file(fmt::format("/proc/{}/task/{}/syscall", pid, tid)));
    if (!call || (allocator_may_sleep && spinlock_may_sleep(call->number))) continue;
    if (auto name = safe_sleep(call->number, call->arguments[1])) {
      sleepers.push_back({.tid = tid, .call = std::move(*name)});
    }
  }
  std::ranges::partition(sleepers, [](const Sleeper& s) { return s.call != "futex"; });
  return sleepers;
}

// mov $15,%rax; syscall: what a signal handler returns to (libc's __restore_rt).
constexpr std::array<unsigned char, 9> kHandlerReturn = {0x48, 0xc7, 0xc0, 0x0f, 0,
                                                         0,    0,    0x0f, 0x05};

// True if a word of the stack above `stack` is the address of a handler's return.
bool inside_handler(pid_t pid, const TargetCode& code_ranges, uint64_t stack) {
  std::vector<uint64_t> words;
  uint64_t at = stack & ~uint64_t{7};
  while (words.size() * 8 < kStackLook) {
    const uint64_t count = kPageBytes - at % kPageBytes;
    const size_t before = words.size();
    words.resize(before + count / 8);
    if (!read_memory(pid, at, words.data() + before, count)) {
      words.resize(before);
      break;
    }
    at += count;
  }
  std::ranges::sort(words);
  words.erase(std::unique(words.begin(), words.end()), words.end());
  for (const uint64_t word : words) {
    if (!code_ranges.has(word)) continue;
    std::array<unsigned char, kHandlerReturn.size()> code = {};
    if (read_memory(pid, word, code.data(), code.size()) && code == kHandlerReturn) return true;
  }
  return false;
}

// The registers of a thread whose system call was interrupted by our stop and will be made again.
bool stands_in_call(pid_t pid, const user_regs_struct& registers) {
  constexpr std::array<int64_t, 4> kAgain = {-512, -513, -514, -516};
  const auto number = static_cast<int64_t>(registers.orig_rax);
  const auto result = static_cast<int64_t>(registers.rax);
  std::array<unsigned char, 2> code = {};
  if (number < 0) {
    // mend_call() has set it back in front of the instruction.
    return fails_when_stopped(result) && read_memory(pid, registers.rip, code.data(), 2) &&
           code[0] == 0x0f && code[1] == 0x05 && safe_sleep(result, registers.rsi).has_value();
  }
  return std::ranges::find(kAgain, result) != kAgain.end() &&
         safe_sleep(number, registers.rsi).has_value() &&
         read_memory(pid, registers.rip - 2, code.data(), 2) && code[0] == 0x0f && code[1] == 0x05;
}

// True once `thread`, stopped by us, is seen to stand in a harmless call.
bool is_asleep(pid_t pid, const TargetCode& code, Tracee& thread) {
  thread.mend_call();
  const auto registers = thread.registers();
  if (!registers || !stands_in_call(pid, *registers)) return false;
  return !inside_handler(pid, code, registers->rsp);
}

// Passes on what is not for us. False if the thread or the program is gone.
bool pass_on(Tracee& thread, const ThreadStop& stop) {
  switch (stop.kind) {
    case Kind::signal:
      return thread.go_on(stop.signal);
    case Kind::group:
      return thread.listen();
    case Kind::interrupt:
      thread.mend_call();
      return thread.go_on();
    case Kind::none:
      return true;
    case Kind::exec:
    case Kind::gone:
      break;
  }
  return false;
}

class Hunt {
 public:
  Hunt(pid_t pid, const TargetAllocator& allocator, const TargetCode& code, double timeout_s)
      : pid_(pid),
        allocator_(allocator),
        code_(code),
        timeout_s_(timeout_s),
        until_(TraceClock::now() + std::chrono::duration_cast<TraceClock::duration>(
                                       std::chrono::duration<double>(timeout_s))) {}

  Result<FoundThread> run() {
    if (auto found = take_sleeper()) return std::move(*found);
    if (refused_) return *refused_;
    // The kernel would change how the process handles SIGTRAP if it ignores it.
    const bool may_arm = !look_at_target(pid_).trap_ignored;
    while (true) {
      if (may_arm) arm_new_threads();
      if (refused_) return *refused_;
      const auto next_look = TraceClock::now() + kSleeperInterval;
      while (TraceClock::now() < next_look) {
        if (auto found = poll_threads()) return std::move(*found);
        if (refused_) return *refused_;
        pause_a_little();
      }
      if (auto found = take_sleeper()) return std::move(*found);
      if (threads_.empty() && threads_of(pid_).empty()) return ended();
      if (TraceClock::now() >= until_) return timed_out();
    }
  }

 private:
  static void pause_a_little() {
    const timespec pause = {.tv_sec = 0, .tv_nsec = 50'000};
    ::nanosleep(&pause, nullptr);
  }
  [[nodiscard]] Error ended() const {
    return {Error::Kind::not_found, fmt::format("process {} has ended", pid_)};
  }
  [[nodiscard]] Error timed_out() const {
    return {Error::Kind::not_found,
            fmt::format("no safe moment came within {:.3g} s: no thread of process {} called {} or "
                        "slept in a system call; it was let go as it was, try again later or with "
                        "a longer --timeout",
                        timeout_s_, pid_, fmt::join(allocator_.entry_names, ", "))};
  }

  [[nodiscard]] bool allocator_may_sleep() const {
    return allocator_.family == AllocatorFamily::tcmalloc ||
           allocator_.family == AllocatorFamily::other;
  }

  Tracee* known(pid_t tid) {
    const auto found = std::ranges::find(threads_, tid, &Tracee::tid);
    return found == threads_.end() ? nullptr : &*found;
  }

  // Seizes a thread; nullopt if it is gone. A refusal by the kernel ends the hunt.
  std::optional<Tracee> seize(pid_t tid) {
    auto thread = Tracee::seize(tid);
    if (!thread) {
      if (const auto checked = check_failed_seize(pid_, tid, errno); !checked) {
        refused_ = checked.error();
      }
    }
    return thread;
  }

  // Stops `thread`; what else comes meanwhile is passed on.
  ThreadStop stop(Tracee& thread) const {
    const auto limit = TraceClock::now() + kStopLimit;
    while (true) {
      if (!thread.interrupt()) return {.kind = Kind::gone};
      const ThreadStop stop = thread.wait(limit);
      if (stop.kind != Kind::signal || is_entry(thread, stop)) return stop;
      if (!pass_on(thread, stop)) return {.kind = Kind::gone};
    }
  }

  [[nodiscard]] bool is_entry(const Tracee& thread, const ThreadStop& stop) const {
    if (stop.kind != Kind::signal || stop.signal != SIGTRAP || !stop.from_kernel) return false;
    const auto registers = thread.registers();
    return registers &&
           std::ranges::find(allocator_.entries, registers->rip) != allocator_.entries.end();
  }

  std::optional<FoundThread> take_sleeper() {
    for (const Sleeper& sleeper : sleepers_of(pid_, allocator_may_sleep())) {
      if (TraceClock::now() >= until_ && !threads_.empty()) break;
      Tracee* armed = known(sleeper.tid);
      std::optional<Tracee> fresh;
      if (armed == nullptr) {
        fresh = seize(sleeper.tid);
        if (refused_) return std::nullopt;
        if (!fresh) continue;
      }
      Tracee& thread = armed != nullptr ? *armed : *fresh;
      const auto stopped_at = TraceClock::now();
      const ThreadStop stop = this->stop(thread);
      if (is_entry(thread, stop)) return taken(thread, entry_name(thread), stopped_at);
      if (stop.kind == Kind::interrupt && is_asleep(pid_, code_, thread)) {
        return taken(thread, "in " + sleeper.call, stopped_at);
      }
      if (armed != nullptr) pass_on(thread, stop);
      // A fresh one is let go as it ends here.
    }
    return std::nullopt;
  }

  [[nodiscard]] std::string entry_name(const Tracee& thread) const {
    const uint64_t at = thread.registers().value_or(user_regs_struct{}).rip;
    const auto found = std::ranges::find(allocator_.entries, at);
    if (found == allocator_.entries.end()) return "at malloc";
    return "at " + allocator_.entry_names[static_cast<size_t>(found - allocator_.entries.begin())];
  }

  // Takes the thread for the caller and lets all others go.
  FoundThread taken(Tracee& thread, std::string how, TraceClock::time_point stopped_at) {
    thread.clear_breakpoints();
    FoundThread found{.thread = std::move(thread), .how = std::move(how), .stopped_at = stopped_at};
    // All at once, so that each stands still only for a moment.
    for (Tracee& other : threads_) other.interrupt();
    threads_.clear();
    return found;
  }

  void arm_new_threads() {
    for (const pid_t tid : threads_of(pid_)) {
      if (known(tid) != nullptr || std::ranges::find(passed_over_, tid) != passed_over_.end()) {
        continue;
      }
      std::optional<Tracee> thread = seize(tid);
      if (refused_) return;
      if (!thread) continue;
      const ThreadStop stop = this->stop(*thread);
      if (stop.kind != Kind::interrupt && stop.kind != Kind::group) continue;
      thread->mend_call();
      const bool hears_traps =
          (thread->signal_mask().value_or(~0ULL) & (uint64_t{1} << (SIGTRAP - 1))) == 0;
      if (!hears_traps || thread->set_breakpoints(allocator_.entries) == 0) {
        passed_over_.push_back(tid);
        continue;
      }
      if (stop.kind == Kind::group)
        thread->listen();
      else
        thread->go_on();
      threads_.push_back(std::move(*thread));
    }
  }

  std::optional<FoundThread> poll_threads() {
    for (size_t i = 0; i < threads_.size();) {
      const ThreadStop stop = threads_[i].look();
      if (is_entry(threads_[i], stop)) {
        return taken(threads_[i], entry_name(threads_[i]), TraceClock::now());
      }
      if (stop.kind == Kind::exec) {
        refused_ = Error{Error::Kind::not_found,
                         fmt::format("process {} replaced its program meanwhile; try again", pid_)};
        return std::nullopt;
      }
      if (stop.kind == Kind::gone || !pass_on(threads_[i], stop)) {
        threads_.erase(threads_.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
    return std::nullopt;
  }

  pid_t pid_;
  const TargetAllocator& allocator_;
  const TargetCode& code_;
  double timeout_s_;
  TraceClock::time_point until_;
  std::vector<Tracee> threads_;
  std::vector<pid_t> passed_over_;  // Threads that can have no breakpoints.
  std::optional<Error> refused_;
};

}  // namespace

Result<FoundThread> hunt(pid_t pid, const TargetAllocator& allocator, const TargetCode& code,
                         double timeout_s) {
  return Hunt(pid, allocator, code, timeout_s).run();
}

}  // namespace plateau
