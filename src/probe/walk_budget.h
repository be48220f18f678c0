// SPDX-License-Identifier: Apache-2.0
// When a page-table walk of the tree may be afforded.
//
// Question. Reading smaps_rollup takes 18 to 26 ms per GB with 4 kB pages, and for as long the
// target's mmap, munmap and brk wait. How often is that polite, and how cheap for us?
//
// Method. The tree is walked as one unit, a sweep, because the PSS of parent and child add up only
// if they are read together. The next sweep waits until
//   - each target has lived, since its last walk, its expected walk / walk_share, and all that was
//     ever read under its lock is below walk_share of its life, this sweep included;
//   - we have lived, since the last sweep, the expected sweep / walk_cpu_share;
//   - a 28th of the time watched has passed, at least 1 s and at most 60 s; or 0.2 s if the set of
//     processes has changed. A verdict cuts the run into 28 stretches and looks at the floor of
//     each: one walk in each is what it needs, more is only cost.
// What is expected is the last walk, scaled up if the target has grown since; before the first
// walk, 25 ms per GB of RSS. The first sweep runs at once if it is expected to take under 20 ms.
// For a target that was not walked yet its whole life counts, also that before we watched.
//
// Worked number. One process of 8 GB: a walk takes 0.2 s, so at 0.2 % of its time it is walked
// every 100 s. Twenty-one processes of 20 MB: a sweep takes 18 ms, at 0.5 % of our core every
// 3.6 s; each is stalled for 0.9 ms then, which alone would allow every 0.45 s.
//
// Newcomers that are too big to have paid for their walk hold up the sweep, because a tree that is
// walked in part does not add up. A worker of 2 GB has to live for 25 s. Where workers are forked
// anew sooner than that, the tree is not walked: what its processes gain is still seen, what they
// copy on write is not, and ends with them. What a target really spent is told as it is (`share`):
// more than walk_share only after the first sweep of a short life.
//
// Time comes from the caller alone; nothing here reads a clock.
#pragma once

#include <cstdint>
#include <span>

namespace plateau {

// What the budget remembers of one process. Plain data, owned by the caller.
struct WalkTarget {
  double born_s = 0;        // On the caller's clock; may be negative.
  double walked_s = 0;      // Spent under walks, in all.
  double last_s = 0;        // The last walk took this long.
  int64_t last_rss_kb = 0;  // And covered this much.
  bool walked = false;

  // Share of its life until `now_s` under walks, 0 to 1.
  [[nodiscard]] double share(double now_s) const;
};

class WalkBudget {
 public:
  WalkBudget(double walk_share, double walk_cpu_share)
      : walk_share_(walk_share), walk_cpu_share_(walk_cpu_share) {}

  struct Load {
    const WalkTarget* target = nullptr;
    int64_t rss_kb = 0;
  };

  // May a sweep over these run now? The first call starts our own clock.
  bool due(double now_s, std::span<const Load> loads);

  // The next due() is true.
  void want() { wanted_ = true; }
  // Processes came or went.
  void set_changed() { changed_ = true; }

  // A sweep is: begin_sweep(), book_walk() for each target, end_sweep(). book() is for another read
  // that holds a target's mmap lock, at any time.
  void begin_sweep() { unpaid_s_ = 0; }
  void book(WalkTarget& target, double seconds);
  void book_walk(WalkTarget& target, int64_t rss_kb, double seconds);
  void end_sweep(double now_s);

  [[nodiscard]] double total_s() const { return total_s_; }
  [[nodiscard]] uint64_t walks() const { return walks_; }

  static double expected_s(const WalkTarget& target, int64_t rss_kb);

 private:
  double walk_share_;
  double walk_cpu_share_;
  bool wanted_ = false;
  bool changed_ = false;
  bool swept_ = false;
  double first_s_ = 0;  // When we began to watch.
  bool started_ = false;
  double since_s_ = 0;   // Last sweep, or the start.
  double unpaid_s_ = 0;  // Booked since the last sweep began.
  double total_s_ = 0;
  uint64_t walks_ = 0;
};

}  // namespace plateau
