// SPDX-License-Identifier: Apache-2.0
// What is known about a job beside its memory: one table of facts, and how long an epoch is.
//
// Whoever lists facts (recordings, tidy CSV, options, the words of a training loop, the page) goes
// through kFacts, so a new fact is a member of Context and a row here.
//
// The length of an epoch is had, in this order, from
//   the fact itself | ceil(examples / batch) | step / epoch, where the job says both |
//   the clock between two epochs as logged, on whatever clock the run is judged by |
//   by time, the middle gap between the beginnings of epochs that were heard of
// The first three are facts about the run, so that a look at its first half knows them too; the
// others are about the samples at hand. Worked case: 663 examples by 8 are 83 steps; a log that
// says "epoch 1.45" at step 120 has epochs of 120 / 1.45, rounded 83 steps. One that says "epoch 1"
// from step 5 on and "epoch 2" from step 105 on has epochs of 100 steps; before step 105 nobody
// knows.
//
// Blind spot: a job that counts micro-batches as steps and states examples per optimizer step.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "recording/run.h"

namespace plateau {

// Run::format of a snapshot of an allocator's history: a stretch of a run, not a run.
inline constexpr std::string_view kSnapshotFormat = "cuda snapshot";

using FactField = std::optional<Fact> Context::*;

struct FactKind {
  FactField field;
  std::string_view name;  // For people, words joined by '_'.
  std::string_view unit;
  std::string_view key;  // In recordings, tidy CSV and the words of a training loop.
  bool loop_says;        // A training loop may state it; a limit is not the loop's to say.
  std::string_view help;

  [[nodiscard]] std::string spelled(char joint) const;  // The name: "epoch-steps", "epoch steps".
  [[nodiscard]] bool is_memory() const { return unit == "MB"; }
  [[nodiscard]] bool is_name() const { return unit == "name"; }  // Fact::text is what it says.
  [[nodiscard]] bool may_be_zero() const { return unit.empty(); }
  // "17.7 GB", "663", "job-7": what the fact says, for a reader. A name is hostile until printed.
  [[nodiscard]] std::string told(const Fact& fact) const;
};

// A name is at most so long; launchers' ids are far shorter.
inline constexpr size_t kMaxFactText = 128;
// More ranks, or a higher one, than any launcher starts: not to be believed.
inline constexpr int64_t kMaxRank = 1'000'000;

// A fact's place is its number in recordings: rows are only ever added at the end.
inline constexpr std::array<FactKind, 10> kFacts = {{
    {&Context::examples, "examples", "examples", "examples", true, "Examples in the training set."},
    {&Context::batch, "batch", "examples per step", "batch", true,
     "Examples per optimizer step, over all devices and accumulation."},
    {&Context::epoch_steps, "epoch_steps", "steps", "epoch_steps", true,
     "Optimizer steps in one pass over the data, if you know it directly."},
    {&Context::total_steps, "total_steps", "steps", "total_steps", true,
     "Steps the job will run; the risk is about reaching the limit before then."},
    {&Context::limit_mb, "limit", "MB", "limit_mb", false,
     "Memory limit of the machine or container: 20GB, 64GiB; a bare number is MB."},
    {&Context::rank, "rank", "", "rank", true, "Which rank of its job this is, from 0."},
    {&Context::world, "world", "ranks", "world", true, "How many ranks the job has."},
    {&Context::attempt, "attempt", "", "attempt", false,
     "How often the job was started before: 0 for the first time."},
    {&Context::job, "job", "name", "job", false,
     "The job's id, the same for all its ranks: recordings with one are told as one."},
    {&Context::node, "node", "name", "node", false, "The machine that this rank runs on."},
}};

// Its place in kFacts. Requires: `field` is one of them.
size_t fact_number(FactField field);

// Puts the given facts over the run's own. Steps per epoch that the log states give way to given
// examples and batch: the user knows better.
void apply_facts(const Context& given, Context& context);

struct EpochLength {
  double length = 0;   // In units of the clock; 0: not known.
  std::string source;  // "663 examples / 8 per step", "line 4", "epochs as logged"
};

// By the ladder above. `clock` holds one value per instant; facts count only if it counts `steps`.
EpochLength epoch_length_of(const Run& run, std::span<const double> clock, bool steps);

// Its first two rungs; nullopt if the context does not say.
std::optional<double> epoch_steps_of(const Context& context);

// Its third rung, one pair after another. Epochs are printed with few digits, so the last pair has
// the smallest error. Epochs that are never fractional say nothing, and a ratio that has moved by a
// tenth is none: the step was reset.
class EpochRatio {
 public:
  static constexpr std::string_view kSource = "epochs as logged";

  void see(int64_t step, double epoch);
  [[nodiscard]] std::optional<double> steps() const;

 private:
  double first_ = 0;
  double last_ = 0;
  bool fractional_ = false;
};

}  // namespace plateau
