// SPDX-License-Identifier: Apache-2.0
// A trial: what the processes of a job say while `plateau prove` runs, put together, and whether it
// is enough.
//
// Each process that trains runs the design for itself (torchrun: every rank) and speaks with its
// own pid. They are judged one by one, and the worst of them is the answer: a leak on one rank ends
// the job. Pure but for what hear() collects.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "prove/blocks.h"
#include "prove/odds.h"
#include "prove/words.h"
#include "session/step_words.h"

namespace plateau {

struct ProveResult {
  Proved proved = Proved::undecided;
  GrowthOdds odds;
  std::optional<ProveDesign> design;  // None: the job never got that far.
  std::vector<BatchBlock> blocks;
  int64_t pid = -1;                // Of the process that is told of,
  size_t speakers = 0;             // one of so many that train.
  int64_t steps = 0;               // Batches it has trained on.
  int64_t saves = 0;               // Calls that would have written a checkpoint.
  size_t idle = 0;                 // Blocks that were left out: nothing was trained on in them.
  int64_t acted = 0;               // Calls that a factor has left out, at least.
  std::vector<std::string> wrote;  // Files that it opened for writing, the first few ...
  int64_t files_written = 0;       // ... of at least so many.
  std::string refused;             // Why the design was not run.
  bool heard = false;              // Anything at all from our module.
};

class ProveTrial {
 public:
  // `leaves_out`: its factor leaves calls out, so it is not over before there was one.
  explicit ProveTrial(bool leaves_out = false) : leaves_out_(leaves_out) {}

  // What the step clock carries; everything that is not ours is passed over.
  void hear(const StepWords& words);

  // Every process that speaks has decided with odds of 99 to 1, or one is out of steps.
  [[nodiscard]] bool enough() const { return enough_; }
  [[nodiscard]] bool over() const { return over_; }    // One is out of steps, or refused.
  [[nodiscard]] bool begun() const { return begun_; }  // The blocks of one have begun.
  [[nodiscard]] int64_t last_step() const { return last_step_; }  // Of whoever spoke last.
  [[nodiscard]] ProveResult result() const;
  // "block 3 of 9", for somebody who waits; empty before the design has begun.
  [[nodiscard]] std::string progress(int64_t steps) const;

 private:
  struct Speaker {
    std::optional<ProveDesign> design;
    std::vector<ProveState> states;
    size_t blocks = 0;
    int64_t idle = -1;       // Number of the last block that counts for nothing,
    size_t idle_blocks = 0;  // of so many.
    GrowthOdds odds;
    bool over = false;
    bool decided = false;
  };
  void look_at(Speaker& speaker);

  bool leaves_out_;
  std::map<int64_t, Speaker> speakers_;  // By pid.
  int64_t saves_ = 0;
  int64_t acted_ = 0;
  std::map<int64_t, int64_t> files_;  // Written, by pid.
  std::vector<std::string> wrote_;
  std::string refused_;
  bool heard_ = false;
  bool begun_ = false;
  int64_t last_step_ = 0;
  bool enough_ = false;
  bool over_ = false;
};

// Odds at which a trial stops, and those at which its end is an answer.
inline constexpr double kEarlyShare = 0.99;
inline constexpr double kFinalShare = 0.9;

}  // namespace plateau
