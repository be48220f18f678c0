// SPDX-License-Identifier: Apache-2.0
// Which processes of a job the heap tracer is not in, and why: the true reason, read from the
// process while it lives. One that is not worth a word (below 4 MB) is not looked at, and a look at
// the others comes every few seconds, a few at a time.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "probe/snapshot.h"

namespace plateau {

enum class TracerState : uint8_t {
  unknown,         // The process could not be looked at.
  loaded,          // It is in there.
  not_told,        // Its environment does not name the tracer.
  without_loader,  // Statically linked, or by another libc.
  refused,         // The loader was told and did not load it.
};

// From /proc/PID/maps and /proc/PID/environ.
TracerState tracer_state(std::string_view maps, std::string_view environment);

class UntracedProcesses {
 public:
  void look(const Snapshot& snapshot, double at_s);

  // A sentence for each of the largest that have no track, the largest first.
  [[nodiscard]] std::vector<std::string> sentences(const std::set<int64_t>& with_track,
                                                   bool exact) const;

 private:
  struct Known {
    std::string name;
    int64_t anon_kb = 0;
    double looked_s = 0;
    TracerState state = TracerState::unknown;
  };
  std::map<ProcessKey, Known> known_;
};

}  // namespace plateau
