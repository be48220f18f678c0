// SPDX-License-Identifier: Apache-2.0
// A model's configuration, the header of its weights, and a plan of whatever passes for one.
#include <cmath>
#include <cstdint>
#include <string_view>

#include "plan/memory_plan.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(plateau::count_header(text, "weights"));
  const plateau::Result<plateau::ModelShape> shape =
      plateau::parse_model_shape(text, "config.json");
  if (!shape) return 0;
  plateau::PlannedModel model;
  model.shape = shape.value();
  model.weights = plateau::count_weights(model.shape);
  plateau::TrainingSetup setup;
  setup.targets = {"all-linear"};
  setup.method = static_cast<plateau::TrainingMethod>(size % 3);
  setup.attention = static_cast<plateau::AttentionKind>(size % 2);
  setup.patches = 4096;
  setup.pictures = 1;
  const plateau::MemoryPlan plan = plateau::make_memory_plan(model, setup);
  if (!std::isfinite(plan.gpu->peak) || plan.gpu->peak < 0) __builtin_trap();
  static_cast<void>(plateau::changes_to_fit(model, setup, 24e9));
  return 0;
}
