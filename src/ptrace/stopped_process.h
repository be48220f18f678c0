// SPDX-License-Identifier: Apache-2.0
// A process whose threads all stand still, until this goes away.
//
// ptrace seizes each thread without signals of its own and without the option that would kill the
// process with us: if we are killed, the kernel lets it go. Threads that are born while we seize
// are found by looking again until none is new.
//
// A blocked system call is interrupted by the stop. The kernel restarts most of them by itself;
// those that it would let fail with EINTR (epoll_wait, and sockets with a time-out) are issued
// again with their full time-out, because nothing that the process can see has happened.
//
// Whoever looks at a process that stands still is in a hurry for its sake: this thread goes before
// others until the process is let go, where it may (root, or limits on real-time priority or nice
// that allow it). Among thirty runnable processes on two cores it would otherwise wait longer than
// it looks. A real-time priority comes first, because a nice value counts within a session only
// where the kernel shares the cores among sessions (sched_autogroup).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ptrace/tracee.h"

namespace plateau {

// The calling thread goes before others as long as this is there; nothing changes where it may not.
class Haste {
 public:
  Haste();
  ~Haste();
  Haste(Haste&& other) noexcept;
  Haste& operator=(Haste&&) = delete;

 private:
  enum class Means : uint8_t { none, real_time, nice };
  int before_;   // The thread's nice value.
  Means means_;  // What was changed, and is to be put back.
};

class StoppedProcess {
 public:
  // Stops all threads of `pid` within `limit_s`, or lets all go again and says why not.
  static Result<StoppedProcess> stop(pid_t pid, double limit_s);

  StoppedProcess(StoppedProcess&& other) noexcept = default;
  StoppedProcess& operator=(StoppedProcess&&) = delete;
  ~StoppedProcess() { release(); }

  // Seconds since the first thread was stopped.
  [[nodiscard]] double stopped_s() const;

  // Lets go. Returns how long the process stood still; a second call does nothing.
  double release();

 private:
  explicit StoppedProcess(pid_t pid) : pid_(pid) {}

  // Seizes threads that are not yet ours. The number of new ones, or why none can be seized.
  Result<size_t> seize_new_threads();
  bool wait_for_stops(double until_s);

  std::optional<Haste> haste_{std::in_place};  // Until the process is let go.
  pid_t pid_;
  std::vector<Tracee> threads_;
  TraceClock::time_point since_ = TraceClock::now();
};

}  // namespace plateau
