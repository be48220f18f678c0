// SPDX-License-Identifier: Apache-2.0
// Who hears of steps: the progress line, the watcher outside (PLATEAU_SOCKET), the own verdict.
#pragma once

#include <chrono>
#include <string>

#include "clients/cpp/plateau.hpp"
#include "command/output.h"
#include "report/text.h"
#include "trainer/cli/self_watch.h"
#include "trainer/loop/training.h"

namespace plateau::train {

struct RunFacts {
  double examples = 0;
  double batch = 0;  // Examples of a step, over all processes.
  double epoch_steps = 0;
};

// On a terminal one line that is rewritten; elsewhere one line every `logging_steps`, in a form
// that `plateau judge` reads: "step 10/250 epoch 0.12 loss 0.4123 lr 1.9e-05 RAM: 412 MB".
class Watching final : public TrainingObserver {
 public:
  Watching(Output& out, const View& view, RunFacts facts, int64_t logging_steps, bool quiet);
  ~Watching() override;

  void began(int64_t total_steps, int64_t first_step) override;
  void stepped(const StepReport& report) override;
  void evaluation_began(int64_t step) override;
  void evaluated(const EvalReport& report) override;
  void noted(const std::string& message) override;
  void checkpointed(int64_t step, const std::filesystem::path& directory) override;

  // Wipes the progress line; nothing is shown from now on.
  void finish();
  [[nodiscard]] const SelfWatch& self() const { return self_; }

 private:
  void show_line(const StepReport& report);
  void wipe();

  Output& out_;
  View view_;
  RunFacts facts_;
  int64_t logging_steps_;
  bool quiet_;
  bool on_terminal_;
  bool shown_ = false;
  ::plateau::Client client_;
  SelfWatch self_;
  std::chrono::steady_clock::time_point next_draw_;
  std::chrono::steady_clock::time_point next_verdict_;
  std::chrono::steady_clock::time_point begin_;
  int64_t first_step_ = 0;
  std::string word_;  // The verdict so far.
};

}  // namespace plateau::train
