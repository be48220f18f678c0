// SPDX-License-Identifier: Apache-2.0
// Who is believed where several speak about one job: the user's own code before our module inside
// the job (words marked from=auto), fact by fact and kind by kind. A loop that says its steps but
// no epochs keeps the module's facts; one that marks its checkpoints has them counted once.
//
// Of several processes that train at once (a sweep, actors) the module speaks in each; the first
// one's steps are the clock for as long as it lives. One that follows after it counts on from where
// the clock stands. Worked case: a warm-up script of 100 steps, then train.py, which says "step 1":
// that is step 101.
//
// The job's output comes last. A process that imports torch with our module in it says so at once
// ("run from=auto"), and for a while nothing is read off the output: the bars of a tokenizer or of
// a download count up to 240 before step 1 of the training, and clocks do not go back.
#pragma once

#include <sys/types.h>

#include <array>
#include <functional>
#include <optional>

#include "recording/facts.h"
#include "session/step_words.h"

namespace plateau {

class Precedence {
 public:
  // The words as they are to be taken, with the step that they mean on this clock; nullopt if
  // somebody else is to be believed. `at` is the step the clock stands at, `lives` whether a
  // process is still there.
  std::optional<StepWords> admit(StepWords words, int64_t at,
                                 const std::function<bool(pid_t)>& lives);
  // The user has said this fact in another way.
  void user_said(FactField which);
  // Our module is in a process of the job that may train.
  void module_is_in(double at_s);
  // Steps are to be expected from it, so that the output is not asked for them.
  [[nodiscard]] bool waits_for_module(double at_s) const;

 private:
  std::optional<StepWords> admit_auto_step(StepWords words, int64_t at,
                                           const std::function<bool(pid_t)>& lives);

  bool user_steps_ = false;
  std::array<bool, kFacts.size()> user_facts_{};
  std::array<bool, 16> user_events_{};  // By EventKind.
  pid_t speaker_ = -1;                  // Whose automatic steps are taken.
  int64_t base_ = 0;                    // Added to them.
  double module_since_s_ = -1;          // Negative: not there.
};

// What "begin NAME" and "mark NAME" mean.
EventKind kind_of_event_word(std::string_view name);

}  // namespace plateau
