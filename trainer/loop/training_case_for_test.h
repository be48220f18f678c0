// SPDX-License-Identifier: Apache-2.0
// A training run of the toy learner with everything it needs, and what it told its observer.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trainer/loop/durable.h"
#include "trainer/loop/toy_learner_for_test.h"
#include "trainer/loop/training.h"

namespace plateau::train {

struct Watcher final : TrainingObserver {
  std::vector<StepReport> steps;
  std::vector<EvalReport> evaluations;
  std::vector<int64_t> saved;
  std::vector<std::string> notes;
  void noted(const std::string& message) override { notes.push_back(message); }
  void stepped(const StepReport& report) override { steps.push_back(report); }
  void evaluated(const EvalReport& report) override { evaluations.push_back(report); }
  void checkpointed(int64_t step, const std::filesystem::path& /*directory*/) override {
    saved.push_back(step);
  }
  [[nodiscard]] std::vector<double> losses() const {
    std::vector<double> out;
    out.reserve(steps.size());
    for (const StepReport& step : steps) out.push_back(step.loss);
    return out;
  }
};

// One run with everything it needs; options are changed before go().
struct Case {
  ScratchDirectory scratch;
  ToyOptions toy;
  ListSource::Options data;
  std::optional<ListSource::Options> eval_data;
  TrainingOptions options;
  Watcher watcher;
  int64_t stop_at = -1;
  std::vector<float> weights;

  Case() {
    options.output_directory = scratch.path() / "out";
    options.accumulate = 2;
    options.max_steps = 16;
    options.optimizer.learning_rate = 2e-2;
    options.warmup_steps = 3;
    options.logging_steps = 5;
    options.dataset_fingerprint = "d1";
    options.adapter_config_json = adapter_config_text({});
  }
  Result<TrainingResult> go() {
    watcher = {};
    const auto learner = make_toy(toy);
    ListSource source(data);
    std::optional<ListSource> eval;
    if (eval_data) eval.emplace(*eval_data);
    auto result = train(*learner, source, eval ? &*eval : nullptr, options, watcher, [&] {
      return !watcher.steps.empty() && watcher.steps.back().step == stop_at;
    });
    weights = weights_in(*learner);
    return result;
  }
  // The bytes of a file of checkpoint-N.
  [[nodiscard]] std::string file(int64_t step, const char* name) const {
    return read_whole(options.output_directory / fmt::format("checkpoint-{}", step) / name).value();
  }
};

}  // namespace plateau::train
