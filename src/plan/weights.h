// SPDX-License-Identifier: Apache-2.0
// The weights of a model, by name and shape: counted from its configuration, and in total from its
// files where they are at hand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/model_shape.h"

namespace plateau {

// Matrices of one name and shape, one or several a layer.
struct WeightKind {
  std::string name;    // "q_proj": what a list of target modules is matched with.
  double rows = 0;     // Outputs.
  double columns = 0;  // Inputs.
  double count = 0;    // Of them in the model.
  double biases = 0;   // Values of one's bias.
  bool is_vision = false;
  bool is_linear = true;  // A linear layer, which NF4 stores in four bits and LoRA may adapt.

  [[nodiscard]] double parameters() const { return count * (rows * columns + biases); }
};

struct WeightCount {
  std::vector<WeightKind> kinds;  // Norms and other vectors are kinds with one column.
  double total = 0;
  double embedding = 0;  // With the head, where that is not tied.
  double largest = 0;    // Values of the largest single weight.
  double layer = 0;      // Of one layer of the decoder.
};
WeightCount count_weights(const ModelShape& shape);

// Whether `targets` (module names, or "all-linear") name this kind, as peft matches a list: by the
// last part of the name, in the vision tower too.
bool is_target(const WeightKind& kind, const std::vector<std::string>& targets);

// What the safetensors headers beside config.json sum up to.
struct StoredWeights {
  double parameters = 0;
  size_t files = 0;
  bool is_packed =
      false;  // Whole numbers among them: quantised, so that they do not tell how many.
};
// nullopt if there are none at `path`. Reads headers only, never a weight.
Result<std::optional<StoredWeights>> count_stored_weights(const std::string& path);
// Of one header. `file` is for messages.
Result<StoredWeights> count_header(std::string_view json, const std::string& file);

}  // namespace plateau
