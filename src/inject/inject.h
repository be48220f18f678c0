// SPDX-License-Identifier: Apache-2.0
// Calls functions inside another process, at a moment when that is safe.
//
// Safe is only the entry of an allocator function (the caller expects any of its registers to be
// lost and holds no lock of the allocator), found by hardware breakpoints, which are per thread and
// change no code; or a thread that sleeps in a system call that the allocator never makes. If no
// such moment comes within the time allowed, the target is let go as it was and an error says so.
//
// The target must be ours to trace: same user, or CAP_SYS_PTRACE, and what yama allows.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace plateau {

// Whether functions can be called in other processes on this processor at all.
#if defined(__x86_64__)
inline constexpr bool kCallsFunctions = true;
#else
inline constexpr bool kCallsFunctions = false;
#endif

struct InjectOptions {
  double timeout_s = 5;        // For the safe point to come.
  double call_timeout_s = 60;  // For a called function to return.
};

// A thread of the target, stopped at a safe point. While it exists that one thread stands still;
// the others run. Destroying it restores the thread's registers and scratch memory and detaches.
class SafePoint {
 public:
  // SIGINT, SIGTERM and their like wait while it looks and while the SafePoint lives: dying with
  // breakpoints set would leave them in the target, which the next of them would kill.
  static Result<SafePoint> reach(pid_t pid, const InjectOptions& options = {});
  SafePoint(SafePoint&&) noexcept;
  SafePoint& operator=(SafePoint&&) = delete;
  ~SafePoint();

  // Calls the function at `address` with up to sixteen integer arguments; its rax.
  Result<uint64_t> call(uint64_t address, const std::vector<uint64_t>& arguments);
  // Puts bytes into scratch memory of the target (64 KB in all); valid until this ends.
  Result<uint64_t> place(const void* bytes, size_t count);
  // The same in a mapping of its own that stays after this ends, until unkeep().
  Result<uint64_t> keep(const void* bytes, size_t count);
  Result<uint64_t> unkeep(uint64_t address, size_t count);
  Result<std::string> read(uint64_t address, size_t count);

  [[nodiscard]] pid_t thread() const;
  [[nodiscard]] const std::string& how() const;  // "at malloc", "in epoll_wait"
  [[nodiscard]] double stopped_s() const;

 private:
  struct State;
  explicit SafePoint(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Loads the tracer into a running process and makes every loaded object call it (GOT patching).
struct AttachRequest {
  std::string tracer;     // Path of libplateau_tracer.so, as the target can open it.
  std::string directory;  // Of the segments, as the target can open it.
  bool exact = false;
  uint64_t interval_bytes = uint64_t{512} * 1024;
};
// What it cost the target.
struct Intrusion {
  double stopped_s = 0;
  std::string how;  // Of the safe point.
  // Of detaching: what stays in the target, and why; empty: nothing does.
  std::string left_behind;
};
Result<Intrusion> attach_tracer(pid_t pid, const AttachRequest& request,
                                const InjectOptions& options = {});
// Unpatches, waits until no thread is inside the tracer, unloads it.
Result<Intrusion> detach_tracer(pid_t pid, const InjectOptions& options = {});

}  // namespace plateau
