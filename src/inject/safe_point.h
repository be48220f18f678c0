// SPDX-License-Identifier: Apache-2.0
// Inside of SafePoint: how a thread at a safe point is found (hunt_x86_64.cc) and used
// (safe_point_x86_64.cc).
#pragma once

#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "inject/allocators.h"
#include "inject/inject.h"
#include "ptrace/refusal.h"
#include "ptrace/tracee.h"

namespace plateau {

// What stands against calling functions in a process before anything is touched: what stands
// against stopping it, and that it is stopped by job control, or keeps a shadow stack; or that it
// cannot be done on this processor.
Result<void> check_enterable(pid_t pid, const TargetFacts& facts);

// Signals that would end this process wait while one of these lives.
class PatientSignals {
 public:
  PatientSignals();
  ~PatientSignals();
  PatientSignals(const PatientSignals&) = delete;
  PatientSignals& operator=(const PatientSignals&) = delete;

 private:
  sigset_t before_ = {};
};

// Mapped code of a process, looked up before anything is stopped.
struct CodeRange {
  uint64_t begin = 0;
  uint64_t end = 0;
};
struct TargetCode {
  std::vector<CodeRange> ranges;  // In order of address.
  uint64_t system_call = 0;       // A `syscall` instruction; 0: none was found.
  [[nodiscard]] bool has(uint64_t address) const;
};
TargetCode find_code(pid_t pid);

// A thread that stands where a function may be called.
struct FoundThread {
  Tracee thread;
  std::string how;
  TraceClock::time_point stopped_at;
};

// Stops a thread that sleeps in a harmless system call, else waits for one that enters the
// allocator. All other threads run untouched when this returns, whatever it returns.
Result<FoundThread> hunt(pid_t pid, const TargetAllocator& allocator, const TargetCode& code,
                         double timeout_s);

}  // namespace plateau
