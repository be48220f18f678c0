// SPDX-License-Identifier: Apache-2.0
// The language model above the embeddings: layers with three-axis rotary positions, final norm and
// head.
#pragma once

#include <ATen/ATen.h>

#include <array>
#include <cstdint>
#include <vector>

#include "trainer/model/builder.h"
#include "trainer/model/functions.h"
#include "trainer/model/linear.h"
#include "trainer/model/vision.h"

namespace plateau::train {

// Keys and values of the tokens seen so far, layer by layer, for generating.
struct KeyValueCache {
  std::vector<at::Tensor> keys;
  std::vector<at::Tensor> values;
};

struct DecoderLayer {
  at::Tensor norm1;
  at::Tensor norm2;
  Linear q;
  Linear k;
  Linear v;
  Linear o;
  Linear gate;
  Linear up;
  Linear down;
};

class Decoder {
 public:
  Decoder(const ModelConfig& config, Builder& builder);

  // tokens x hidden, in the type that is computed in. With a graph only if the table is trained.
  [[nodiscard]] at::Tensor embed(const at::Tensor& ids) const;
  // Rotations of tokens at the given positions (time, height, width).
  [[nodiscard]] Rotation rotation(const std::array<std::vector<int64_t>, 3>& positions) const;
  // All layers, without the final norm.
  [[nodiscard]] at::Tensor layers(const at::Tensor& embedded, const Rotation& rotation,
                                  const std::vector<int64_t>& row_bounds, const Pass& pass) const;
  // The same for generating, without a graph: the tokens of one row, which follow those of the
  // cache and are added to it. One token, or an empty cache.
  [[nodiscard]] at::Tensor continue_layers(const at::Tensor& embedded, const Rotation& rotation,
                                           KeyValueCache& cache, int64_t attention_chunk) const;
  [[nodiscard]] at::Tensor final_norm(const at::Tensor& x) const;
  [[nodiscard]] const Linear& head() const { return head_; }
  [[nodiscard]] at::Device device() const { return device_; }
  // Of all positions at once: small inputs only.
  [[nodiscard]] at::Tensor logits(const at::Tensor& x) const;

 private:
  using Attend =
      std::function<at::Tensor(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v)>;
  [[nodiscard]] at::Tensor layer(const DecoderLayer& layer, const at::Tensor& x,
                                 const Rotation& rotation, const Attend& attend_tokens,
                                 bool is_training) const;

  ModelConfig config_;
  ModelOptions options_;
  at::Device device_;
  at::ScalarType type_;
  bool has_dropout_ = false;
  Linear table_;
  std::vector<DecoderLayer> layers_;
  at::Tensor norm_;
  Linear head_;
};

}  // namespace plateau::train
