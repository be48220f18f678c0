// SPDX-License-Identifier: Apache-2.0
// From a recording to the series that are judged: which pages, of which processes, on which clock.
//
// What a tree owns, and its other kinds of pages, are defined in recording/pages.h.
//
// Which instants count. A recording of a live job begins before its work and ends after it, and
// neither end says anything about growth (`working`, one flag per instant):
//   - Start-up. All that comes before the first step stands right before it: the interpreter,
//     imports, the model. In Plateau's own recordings, and wherever several instants of a run
//     sampled by time stand at its first step, the work begins with the next step seen. What
//     arrived until then is kept apart, as `start_up_mb`.
//   - Tear-down. All that comes after the last step still carries it. Of several instants at the
//     last step only the first counts, the state right after that step.
//   - A job that is known to have ended gave back its memory on the way. Of the instants at the
//     last step, or of those in the last 2 s where there are no steps, or 2 % of the run if that is
//     more, or 10 % of it up to 10 s, the ones at the end that lie a tenth or more below what was
//     held before are left out. At the last step so are those that fell by more than twice what it
//     ever fell before, and 1 %: on a busy machine the only sample of that step may come when the
//     loop's lists are gone.
// Worked case: a leak of 0.3 MB per step reaches 187 MB at step 600, the last; five samples of the
// exit at 187, 150, 90, 30 and 2 MB carry step 600 too. The smallest of them would be a plunge to
// 2 MB, the first of them is the truth.
//
// A process that is missing at one instant between two at which it is present vanished from the
// reader, not from memory: it keeps the value it had before.
//
// Blind spot: a job whose last step takes as long as all others together is judged by how that step
// began.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recording/pages.h"
#include "recording/run.h"
#include "verdict/lives.h"
#include "verdict/verdict.h"

namespace plateau {

// One judged series: one kind of page over the whole tree.
struct Component {
  std::string name;  // Of its PageKind.
  Measure measure;
  bool decides = true;  // As in PageKind.
  bool reclaimable = false;
  std::optional<double> limit_mb = {};  // Its own, if it has one besides the job's.
  bool primary = false;                 // The series that decides unless another one is worse.
  std::vector<TimedValue> points;  // By rising clock, one per clock value, finite, non-negative.
  // The same with what processes held that have ended since (lives.h), which is what is judged.
  // Parallel to `points`; empty where it does not differ.
  std::vector<TimedValue> held = {};
  std::vector<TimedValue> surviving = {};  // Without those that ended for good; empty if none did.
  [[nodiscard]] const std::vector<TimedValue>& judged() const {
    return held.empty() ? points : held;
  }
};

struct Signals {
  Clock clock = Clock::samples;
  std::vector<double> clock_of_instant;  // One per instant of the run.
  // One per instant: neither start-up nor tear-down, and of the life that is judged. At least one
  // is.
  std::vector<bool> working;
  Lives lives;
  double start_up_mb = 0;  // Owned memory that arrived before the first instant that counts.
  std::vector<Component> components;  // The primary one first; empty if nothing was measured.
  std::vector<std::vector<TimedValue>> owned_of_process;  // Parallel to Run::processes.
  std::vector<double> evaluations;                        // Clock values of eval events, rising.
  std::vector<double> checkpoints;                        // Of checkpoint events, rising.
  std::vector<double> process_count;  // Live processes per instant; NaN where not `working`.
};

Signals extract_signals(const Run& run);

// Has the job ended, as far as is known?
bool is_over(const Run& run);

// The sums over the tree, made once for a run and all its prefixes. Judging many prefixes of a long
// run of many processes is otherwise mostly summing the same columns again: of 27 ms for 8,192
// instants of 21 processes, 22 are that.
// Requires: the run outlives this.
class TreeColumns {
 public:
  static constexpr size_t kOtherKinds = kPageKinds.size() - 1;  // Beside owned memory.

  explicit TreeColumns(const Run& run);
  ~TreeColumns();
  TreeColumns(const TreeColumns&) = delete;
  TreeColumns& operator=(const TreeColumns&) = delete;

  // Exactly extract_signals(prefix), or those of the named life. Requires: `prefix` is prefix_of()
  // the run, or the run itself; of its series nothing is read.
  [[nodiscard]] Signals signals(const Run& prefix, std::optional<size_t> life = {}) const;

  // For drawing: one value per instant of the run, start-up and tear-down with it; NaN where
  // nothing was read.
  [[nodiscard]] const std::vector<double>& owned() const { return of_kind_[0]; }
  [[nodiscard]] const std::vector<double>& other(size_t kind) const { return of_kind_[kind + 1]; }
  [[nodiscard]] static std::string_view other_name(size_t kind) {  // "shmem", "file", ...
    return kPageKinds[kind + 1].name;
  }
  [[nodiscard]] const std::vector<std::vector<double>>& owned_of_process() const {
    return owned_of_process_;
  }

 private:
  struct Sources;
  [[nodiscard]] ProcessSums sums_of(size_t count) const;

  std::unique_ptr<Sources> sources_;
  std::array<std::vector<double>, kPageKinds.size()> of_kind_;  // Parallel to kPageKinds.
  std::vector<std::vector<double>> owned_of_process_;
  std::vector<size_t> first_seen_;  // Parallel to it: an instant, the number of them for never.
};

}  // namespace plateau
