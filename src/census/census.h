// SPDX-License-Identifier: Apache-2.0
// Counts the Python objects of a live process from outside, by type.
//
// Nothing is installed in the target and nothing runs in it: it is stopped (ptrace) for as long as
// its garbage collector's lists are read (process_vm_readv), at most `max_stop_s`, and let go. The
// target continues where it was, also if we are killed: the kernel releases it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "census/holders.h"

namespace plateau {

struct CensusOptions {
  double max_stop_s = 0.5;
  bool holders = false;                 // Also who holds them.
  bool holders_first = false;           // Without them the counts are of no use.
  const HolderIndex* before = nullptr;  // Of an earlier census of this process: what grew since.
};

struct TypeCount {
  std::string type;  // Qualified by module where the type knows it: "torch.Tensor".
  uint64_t objects = 0;
  uint64_t bytes = 0;   // As sys.getsizeof counts: without what they point to; 0: not known.
  bool tensor = false;  // torch.Tensor or a subclass.
};

struct Census {
  pid_t pid = 0;
  int minor = 0;                 // Of CPython 3.
  std::vector<TypeCount> types;  // Most objects first.
  uint64_t objects = 0;
  uint64_t unreadable = 0;  // Objects whose type could not be read.
  double stopped_s = 0;     // How long the target stood still ...
  double at_s = 0;          // ... and when, for the last time, by the monotonic clock.
  uint64_t bytes_read = 0;
  HolderFindings holders;  // If asked for.
};

// Refuses with a reason and, where there is one, a remedy: not Python, a version or build that is
// not known (free-threaded), no permission, still collecting after several tries, more objects
// than can be read in the time allowed (says how long it would take).
//
// Only objects that the garbage collector tracks are seen: no strings, numbers, bytes, arrays.
// A process found in the middle of a collection is let go and stopped again; max_stop_s bounds the
// sum of all stops, and `stopped_s` is that sum. `before_stop`, if there is one, is called once,
// right before the first stop; never for a process that is refused at first sight.
Result<Census> take_census(pid_t pid, const CensusOptions& options = {},
                           const std::function<void()>& before_stop = {});

// How many objects a census of the process would likely count, by what its collector left last; 0
// if it has not collected yet. Does not stop it. Refuses as take_census() does at first sight.
Result<uint64_t> likely_objects(pid_t pid);

// A type in two censuses of one process.
struct TypeGrowth {
  std::string type;
  uint64_t objects_before = 0;
  uint64_t objects_after = 0;
  uint64_t bytes_before = 0;
  uint64_t bytes_after = 0;
  bool tensor = false;

  [[nodiscard]] int64_t objects_grown() const {
    return static_cast<int64_t>(objects_after - objects_before);
  }
  [[nodiscard]] int64_t bytes_grown() const {
    return static_cast<int64_t>(bytes_after - bytes_before);
  }
};

struct CensusGrowth {
  std::vector<TypeGrowth> types;  // All of both, most growing first (objects, then bytes).
  uint64_t objects_before = 0;
  uint64_t objects_after = 0;
};

CensusGrowth compare_census(const Census& a, const Census& b);

}  // namespace plateau
