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
#pragma once

#include <sys/types.h>

#include <vector>

#include "base/result.h"
#include "ptrace/tracee.h"

namespace plateau {

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

  pid_t pid_;
  std::vector<Tracee> threads_;
  TraceClock::time_point since_ = TraceClock::now();
};

}  // namespace plateau
