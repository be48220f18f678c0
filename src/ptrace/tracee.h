// SPDX-License-Identifier: Apache-2.0
// One thread of another process, seized by ptrace. Thin: every question to the kernel is a call
// here, and none of them waits without a limit.
//
// Seizing does not stop the thread. It stops when interrupt() is followed by wait(), or by itself
// for a signal. detach() is the owner's duty: a Tracee that is destroyed while stopped is let go
// as it is, without its breakpoints. Only the thread that seized may call these.
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace plateau {

using TraceClock = std::chrono::steady_clock;

struct ThreadStop {
  enum class Kind : uint8_t {
    none,       // Still running when the time was up.
    interrupt,  // Because we asked.
    signal,     // A signal is about to be delivered; `signal` names it.
    group,      // The whole process was stopped (SIGSTOP and the like).
    exec,       // The process has replaced its program.
    gone,       // The thread has ended.
  };
  Kind kind = Kind::none;
  int signal = 0;
  bool from_kernel = false;  // Of a signal: a fault or trap of the thread itself.
};

// All that a thread's user-space state consists of, on x86-64.
struct ThreadState {
  user_regs_struct registers = {};
  std::vector<char> extended;  // x87, SSE, AVX, AVX-512: the XSAVE area.
  uint64_t signal_mask = 0;
};

// What passes from one Tracee to another when it moves.
struct HeldThread {
  pid_t tid_ = -1;  // -1: nothing is held.
  bool stopped_ = false;
  bool armed_ = false;
  bool stepping_ = false;
  bool own_child_ = false;  // Its exit status is for whoever started it, in this process too.
  int signal_ = 0;          // About to be delivered at this stop.
};

class Tracee : HeldThread {
 public:
  // errno is kept for the caller: EPERM, ESRCH.
  static std::optional<Tracee> seize(pid_t tid);
  Tracee(Tracee&& other) noexcept : HeldThread(std::exchange(other.held(), {})) {}
  Tracee& operator=(Tracee&& other) noexcept;
  ~Tracee();

  [[nodiscard]] pid_t tid() const { return tid_; }
  [[nodiscard]] bool stopped() const { return stopped_; }
  [[nodiscard]] bool gone() const { return tid_ < 0; }  // Ended, or released.

  bool interrupt();
  // Requires: stopped. The next go_on() ends in an interrupt before any instruction.
  bool interrupt_stopped();
  // Until the next stop, or `until`.
  ThreadStop wait(TraceClock::time_point until);
  // Looks once.
  ThreadStop look();
  bool go_on(int signal = 0);
  bool step();
  // The signal of this stop is ours and not for the thread.
  void swallow_signal() { signal_ = 0; }
  // Leaves a group stop in force.
  bool listen();

  // Requires: stopped.
  std::optional<user_regs_struct> registers() const;
  [[nodiscard]] std::optional<uint64_t> signal_mask() const;
  bool set_signal_mask(uint64_t mask);
  // For calling functions in the thread, which is possible on x86-64 alone.
  bool set_registers(const user_regs_struct& registers);
  std::optional<ThreadState> save() const;
  bool restore(const ThreadState& state);
  // Execution breakpoints in the debug registers; how many could be set (at most four).
  size_t set_breakpoints(std::span<const uint64_t> addresses);
  void clear_breakpoints();
  [[nodiscard]] bool signal_pending(int signal) const;
  // The call that was interrupted by us alone goes on as if nothing had been; not where a signal is
  // about to be delivered, which is what EINTR means, and not on arm64.
  void mend_call();

  // Lets the thread go. A signal it was about to get is given to it; a trap of ours is not. A
  // running thread is interrupted first; false if it does not stop until `until`.
  bool release(TraceClock::time_point until);
  // Forgets a thread that could not be released, so that nothing waits for it any more: the kernel
  // lets it go when this process ends. Requires: no breakpoints are set.
  void abandon() { tid_ = -1; }

 private:
  explicit Tracee(pid_t tid) { tid_ = tid; }
  ThreadStop take(int status);
  void give_up();

  HeldThread& held() { return *this; }
};

// Where the thread goes on.
uint64_t program_counter(const user_regs_struct& registers);

// A signal mask without what a faulting instruction raises; used while a call runs.
uint64_t mask_of_faults();

// Thread ids of a process, in order; empty if it is gone.
std::vector<pid_t> threads_of(pid_t pid);

// True for calls that the kernel does not restart by itself when a debugger stops the thread: they
// fail with EINTR although no signal came and nothing was transferred. mend_call() makes them
// again. On x86-64 alone.
bool fails_when_stopped(int64_t number);

}  // namespace plateau
