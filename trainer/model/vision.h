// SPDX-License-Identifier: Apache-2.0
// The vision tower: patches in, one vector for each merged block of patches out.
#pragma once

#include <ATen/ATen.h>

#include <map>
#include <string>
#include <vector>

#include "trainer/data/loader.h"
#include "trainer/model/attention.h"
#include "trainer/model/builder.h"
#include "trainer/model/functions.h"
#include "trainer/model/linear.h"
#include "trainer/model/vision_plan.h"

namespace plateau::train {

// How a pass is to be run; layers hand it down.
struct Pass {
  bool is_training = false;  // Dropout.
  bool is_checkpointed = false;
  int64_t attention_chunk = 256;
  std::map<std::string, at::Tensor>* activations = nullptr;  // Filled if not null.

  void note(const std::string& name, const at::Tensor& value) const;
};

struct VisionBlock {
  at::Tensor norm1;
  at::Tensor norm2;
  Linear qkv;
  Linear proj;
  Linear gate;
  Linear up;
  Linear down;
};

class VisionTower {
 public:
  VisionTower(const VisionConfig& config, Builder& builder);

  // Blocks of all pictures in their own order: tokens x out_hidden_size. Requires: pack_batch() has
  // accepted the batch.
  [[nodiscard]] at::Tensor forward(const Batch& batch, const Pass& pass) const;

 private:
  [[nodiscard]] at::Tensor embed(const Batch& batch) const;
  [[nodiscard]] at::Tensor block(const VisionBlock& block, const at::Tensor& x,
                                 const Rotation& rotation, const AttentionShape& shape,
                                 bool is_training) const;

  VisionConfig config_;
  ModelOptions options_;
  at::Device device_;
  at::ScalarType type_;
  bool is_frozen_ = false;
  bool has_dropout_ = false;
  Linear patch_embed_;
  Linear still_embed_;  // For patches of one frame: the sum of the two; set if frozen.
  std::vector<VisionBlock> blocks_;
  at::Tensor merger_norm_;
  Linear merger_in_;
  Linear merger_out_;
};

}  // namespace plateau::train
