// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/vision.h"

#include <algorithm>
#include <optional>

#include "trainer/device/device.h"

namespace plateau::train {
namespace {

constexpr double kVisionEpsilon = 1e-6;  // In the code of the model, not in its configuration.
constexpr double kVisionTheta = 10000;

// tokens x (head size / 2): a quarter of a head turns with the row, a quarter with the column.
at::Tensor vision_angles(const VisionPlan& plan, int64_t head_dim) {
  const int64_t size = head_dim / 2;
  const at::Tensor exponents = at::arange(0, size, 2, at::kFloat).div_(static_cast<double>(size));
  const at::Tensor frequencies = at::pow(kVisionTheta, exponents).reciprocal_();
  const at::Tensor rows = index_tensor(plan.rows, at::kCPU).to(at::kFloat).unsqueeze(1);
  const at::Tensor columns = index_tensor(plan.columns, at::kCPU).to(at::kFloat).unsqueeze(1);
  return at::cat({rows * frequencies, columns * frequencies}, 1);
}

// Patch p of the tower is patch order[p] of the image processor.
at::Tensor patch_order(const VisionPlan& plan, int64_t patches_per_block) {
  return index_tensor(plan.window_order, at::kCPU)
      .mul_(patches_per_block)
      .unsqueeze(1)
      .add(at::arange(patches_per_block, at::kLong))
      .flatten();
}

// Adds up the kernels of the frames: channels x frames x pixels to channels x pixels.
at::Tensor sum_frames(const at::Tensor& weight, const VisionConfig& config) {
  const int64_t pixels = config.patch_size * config.patch_size;
  return weight.view({config.hidden_size, config.in_channels, config.temporal_patch_size, pixels})
      .sum(2)
      .view({config.hidden_size, config.in_channels * pixels});
}

}  // namespace

void Pass::note(const std::string& name, const at::Tensor& value) const {
  if (activations != nullptr) {
    (*activations)[name] = value.detach().clone();
  }
}

VisionTower::VisionTower(const VisionConfig& config, Builder& builder)
    : config_(config),
      options_(builder.options()),
      device_(builder.device()),
      type_(builder.type()) {
  const ModelOptions& options = options_;
  const bool is_adapted = options.trained == Trained::adapters && options.lora.vision &&
                          (options.lora.attention || options.lora.mlp);
  is_frozen_ = !is_trained_whole(options, "visual.patch_embed.proj.weight") && !is_adapted;
  has_dropout_ = is_adapted && options.lora.dropout > 0;
  patch_embed_ = builder.linear("visual.patch_embed.proj", false, Place::other);
  if (patch_embed_.stored.defined()) {
    still_embed_.stored = StoredMatrix(sum_frames(patch_embed_.stored.widen_all(), config));
  }
  for (int64_t i = 0; i < config.depth; ++i) {
    const std::string name = "visual.blocks." + std::to_string(i) + ".";
    VisionBlock block;
    block.norm1 = builder.vector(name + "norm1.weight");
    block.qkv = builder.linear(name + "attn.qkv", true, Place::block);
    block.proj = builder.linear(name + "attn.proj", true, Place::block);
    block.norm2 = builder.vector(name + "norm2.weight");
    block.gate = builder.linear(name + "mlp.gate_proj", true, Place::block);
    block.up = builder.linear(name + "mlp.up_proj", true, Place::block);
    block.down = builder.linear(name + "mlp.down_proj", true, Place::block);
    blocks_.push_back(std::move(block));
  }
  merger_norm_ = builder.vector("visual.merger.ln_q.weight");
  merger_in_ = builder.linear("visual.merger.mlp.0", true, Place::other);
  merger_out_ = builder.linear("visual.merger.mlp.2", true, Place::other);
}

at::Tensor VisionTower::embed(const Batch& batch) const {
  const int64_t count = static_cast<int64_t>(batch.patches.size()) / batch.patch_values;
  const at::Tensor loaded = at::from_blob(const_cast<float*>(batch.patches.data()),
                                          {count, batch.patch_values}, at::kFloat);
  const at::Tensor view = loaded.to(device_, type_);
  const bool is_still = batch.patch_values != config_.patch_values();
  if (!patch_embed_.weight.defined()) {
    return (is_still ? still_embed_ : patch_embed_).apply(view, false);
  }
  // A trained kernel keeps its input for the way back, when the batch may be gone.
  const at::Tensor own = view.is_same(loaded) ? view.clone() : view;
  const at::Tensor kernel = is_still ? sum_frames(patch_embed_.weight.flatten(1), config_)
                                     : patch_embed_.weight.flatten(1);
  return at::mm(own, kernel.to(type_).t());
}

at::Tensor VisionTower::block(const VisionBlock& block, const at::Tensor& x,
                              const Rotation& rotation, const AttentionShape& shape,
                              bool is_training) const {
  const int64_t patches = x.size(0);
  at::Tensor mixed;
  {
    const at::Tensor qkv =
        block.qkv.apply(remade_rms_norm(x, block.norm1, kVisionEpsilon), is_training)
            .view({patches, 3, config_.heads, config_.head_dim()});
    const auto [q, k, v] = split_and_rotate(qkv, rotation);
    mixed = attend(q, k, v, shape).view({patches, config_.hidden_size});
  }
  const at::Tensor middle = block.proj.apply(mixed, is_training).add_(x);
  mixed.reset();
  Remade inner;
  {
    const Remade normed = remade_rms_norm(middle, block.norm2, kVisionEpsilon);
    inner =
        remade_swiglu(block.gate.apply(normed, is_training), block.up.apply(normed, is_training));
  }
  return block.down.apply(inner, is_training).add_(middle);
}

at::Tensor VisionTower::forward(const Batch& batch, const Pass& pass) const {
  std::optional<at::NoGradGuard> without_graph;
  if (is_frozen_) {
    without_graph.emplace();
  }
  const VisionPlan plan = plan_vision(config_, batch.grids);
  const int64_t per_block = config_.merge_size * config_.merge_size;
  const at::Tensor host_order = patch_order(plan, per_block);
  const at::Tensor order = host_order.to(device_);
  const int64_t count = order.size(0);
  // Patches that nobody sees, to which nobody's gradient goes.
  const int64_t more = computed_length(options_, count) - count;
  const at::Tensor angles = vision_angles(plan, config_.head_dim()).index_select(0, host_order);
  const Rotation rotation = lengthened(rotation_of(angles.to(device_)), more);
  const AttentionShape windows{lengthened(plan.window_bounds, more), false, pass.attention_chunk};
  const AttentionShape frames{lengthened(plan.frame_bounds, more), false, pass.attention_chunk};
  at::Tensor x = embed(batch);
  pass.note("visual.patch_embed", x);
  x = lengthened(x.index_select(0, order), more);
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const auto& full = config_.full_attention_blocks;
    const bool is_full = std::find(full.begin(), full.end(), static_cast<int64_t>(i)) != full.end();
    const AttentionShape& shape = is_full ? frames : windows;
    const Layer layer = [this, i, rotation, shape,
                         is_training = pass.is_training](const at::Tensor& input) {
      return block(blocks_[i], input, rotation, shape, is_training);
    };
    x = pass.is_checkpointed ? checkpointed(layer, x, has_dropout_ && pass.is_training) : layer(x);
    pass.note("visual.blocks." + std::to_string(i), shortened(x, count));
  }
  x = shortened(x, count);
  x = rms_norm(x, merger_norm_, kVisionEpsilon).view({-1, per_block * config_.hidden_size});
  x = merger_out_.apply(at::gelu(merger_in_.apply(x, pass.is_training)), pass.is_training);
  pass.note("visual.merger", x);
  return x.index_select(0, index_tensor(plan.window_order, at::kCPU).argsort().to(device_));
}

}  // namespace plateau::train
