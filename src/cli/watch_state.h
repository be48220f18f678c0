// SPDX-License-Identifier: Apache-2.0
// From what a Watcher knows to what the live screen shows.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "report/live.h"
#include "session/watcher.h"

namespace plateau {

// Remembers what a single tick cannot tell: growth since the first sight, CPU since the last tick,
// steps per second, recent events. One per watched job; call tick() once after each Watcher::tick.
class WatchState {
 public:
  void tick(const Watcher& watcher);
  // A line for the list of recent events.
  void note(double at_s, const std::string& text);

  // The picture as of the last tick; `status` is a passing message.
  [[nodiscard]] LiveState state(const Watcher& watcher, const std::string& status) const;

 private:
  struct Seen {
    double first_owned_mb = kMissing;
    double last_cpu_s = 0;
    double last_at_s = kMissing;
    double cpu_percent = kMissing;
    std::string name;
  };

  void see(const ProcessSample& process, double at_s);
  [[nodiscard]] LiveProcess live(const ProcessSample& process) const;
  [[nodiscard]] std::vector<LiveProcess> in_tree_order(const Snapshot& snapshot) const;

  std::map<ProcessKey, Seen> seen_;
  std::deque<LiveEvent> events_;
  std::deque<std::pair<double, int64_t>> steps_;  // Time and step of recent ticks.
  std::vector<std::string> complaints_;
  bool first_ = true;
};

// Where memory ends for the job, as the journal knows it, and what counts against it.
LiveLimit live_limit(const Snapshot& snapshot, const Context& stated);

}  // namespace plateau
