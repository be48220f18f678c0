// SPDX-License-Identifier: Apache-2.0
#include "plan/weights.h"

#include <algorithm>

namespace plateau {
namespace {

class WeightList {
 public:
  explicit WeightList(bool is_vision) : is_vision_(is_vision) {}

  void linear(std::string name, double rows, double columns, double count, bool has_bias) {
    kinds.push_back({.name = std::move(name),
                     .rows = rows,
                     .columns = columns,
                     .count = count,
                     .biases = has_bias ? rows : 0,
                     .is_vision = is_vision_});
  }
  void vectors(std::string name, double values, double count) {
    kinds.push_back({.name = std::move(name),
                     .rows = values,
                     .columns = 1,
                     .count = count,
                     .is_vision = is_vision_,
                     .is_linear = false});
  }
  std::vector<WeightKind> kinds;

 private:
  bool is_vision_;
};

void add_mlp(WeightList& list, const TowerShape& tower, bool is_qwen_or_text) {
  const auto layers = static_cast<double>(tower.layers);
  const auto hidden = static_cast<double>(tower.hidden);
  const auto inner = static_cast<double>(tower.inner);
  const double copies = layers * static_cast<double>(std::max<int64_t>(1, tower.experts));
  if (tower.is_gated) {
    if (tower.fuses_inputs) {
      list.linear("gate_up_proj", 2 * inner, hidden, copies, tower.has_mlp_bias);
    } else {
      list.linear("gate_proj", inner, hidden, copies, tower.has_mlp_bias);
      list.linear("up_proj", inner, hidden, copies, tower.has_mlp_bias);
    }
    list.linear("down_proj", hidden, inner, copies, tower.has_mlp_bias);
  } else {
    list.linear(is_qwen_or_text ? "linear_fc1" : "fc1", inner, hidden, layers, tower.has_mlp_bias);
    list.linear(is_qwen_or_text ? "linear_fc2" : "fc2", hidden, inner, layers, tower.has_mlp_bias);
  }
  if (tower.experts > 0) {
    list.linear("gate", static_cast<double>(tower.experts), hidden, layers, false);
  }
}

void add_tower(WeightList& list, const TowerShape& tower, bool is_vision) {
  const auto layers = static_cast<double>(tower.layers);
  const auto hidden = static_cast<double>(tower.hidden);
  const auto queries = static_cast<double>(tower.query_values());
  const auto keys = static_cast<double>(tower.key_values());
  if (tower.fuses_qkv) {
    list.linear("qkv", queries + 2 * keys, hidden, layers, tower.has_qkv_bias);
    list.linear("proj", hidden, queries, layers, tower.has_output_bias);
  } else if (tower.fuses_inputs) {
    list.linear("qkv_proj", queries + 2 * keys, hidden, layers, tower.has_qkv_bias);
    list.linear("o_proj", hidden, queries, layers, tower.has_output_bias);
  } else {
    list.linear("q_proj", queries, hidden, layers, tower.has_qkv_bias);
    list.linear("k_proj", keys, hidden, layers, tower.has_qkv_bias);
    list.linear("v_proj", keys, hidden, layers, tower.has_qkv_bias);
    list.linear(is_vision ? "out_proj" : "o_proj", hidden, queries, layers, tower.has_output_bias);
  }
  add_mlp(list, tower, tower.fuses_qkv);
  const double norm_values = hidden * (tower.is_layer_norm ? 2 : 1);
  list.vectors("norm", norm_values, layers * static_cast<double>(tower.norms));
  if (tower.has_qk_norm) {
    list.vectors("qk_norm", static_cast<double>(tower.head_dim), 2 * layers);
  }
}

}  // namespace

WeightCount count_weights(const ModelShape& shape) {
  WeightList text(false);
  const auto hidden = static_cast<double>(shape.text.hidden);
  const auto vocabulary = static_cast<double>(shape.vocabulary);
  WeightCount count;
  add_tower(text, shape.text, false);
  double in_layers = 0;
  for (const WeightKind& kind : text.kinds) in_layers += kind.parameters();
  count.layer = in_layers / static_cast<double>(shape.text.layers);
  text.vectors("final_norm", hidden, 1);
  const double tables = shape.is_tied ? 1 : 2;
  text.kinds.push_back({.name = "embed_tokens",
                        .rows = vocabulary,
                        .columns = hidden,
                        .count = tables,
                        .is_linear = false});
  count.embedding = tables * vocabulary * hidden;
  count.kinds = std::move(text.kinds);
  if (shape.vision) {
    WeightList vision(true);
    add_tower(vision, shape.vision->tower, true);
    double rest = shape.vision->extra_parameters;
    for (const double matrix : shape.vision->extra_linear) {
      vision.linear("merger", matrix, 1, 1, false);
      rest -= matrix;
    }
    vision.vectors("vision_rest", rest, 1);
    count.kinds.insert(count.kinds.end(), vision.kinds.begin(), vision.kinds.end());
  }
  for (const WeightKind& kind : count.kinds) {
    count.total += kind.parameters();
    count.largest = std::max(count.largest, kind.rows * kind.columns);
  }
  return count;
}

bool is_target(const WeightKind& kind, const std::vector<std::string>& targets) {
  if (!kind.is_linear || kind.name == "merger" || kind.name == "gate") return false;
  return std::ranges::any_of(targets, [&](const std::string& target) {
    return target == "all-linear" || target == kind.name;
  });
}

}  // namespace plateau
