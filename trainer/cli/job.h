// SPDX-License-Identifier: Apache-2.0
// What train, plan and ask open before they begin: the model's description, its tokenizer, the
// data.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "trainer/cli/request.h"
#include "trainer/data/dataset.h"
#include "trainer/plan/data_shapes.h"
#include "trainer/plan/plan.h"
#include "trainer/store/model_config.h"
#include "trainer/text/tokenizer.h"

namespace plateau::train {

struct Job {
  ModelConfig config;
  Tokenizer tokenizer;
  Dataset dataset;
  std::optional<Dataset> eval_dataset;
  LoaderOptions loader;  // Completed: pad token, patch sizes of the model.
};

// Checks that tokenizer and model agree on the special tokens.
Result<Job> open_job(const Sizing& sizing);

struct Planned {
  PlanRequest request;
  DataShapes shapes;
  Plan plan;
  // With --packing: which examples share a row. Null: none do.
  std::shared_ptr<const Packs> packs;
  std::shared_ptr<const Packs> eval_packs;

  // Of an epoch of training.
  [[nodiscard]] size_t rows() const { return packs ? packs->rows() : shapes.examples; }
};
Result<Planned> plan_job(const Job& job, const Sizing& sizing, int64_t threads);

}  // namespace plateau::train
