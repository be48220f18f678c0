// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/decoder.h"

#include <cmath>
#include <utility>

#include "trainer/device/device.h"
#include "trainer/model/attention.h"

namespace plateau::train {
namespace {

// One token's queries against all keys: no strips needed.
at::Tensor attend_one(const at::Tensor& q, const at::Tensor& keys, const at::Tensor& values) {
  const int64_t kv_heads = keys.size(1);
  const int64_t shared = q.size(1) / kv_heads;
  const double scale = 1.0 / std::sqrt(static_cast<double>(q.size(2)));
  const at::Tensor queries = q.view({kv_heads, shared, q.size(2)}).mul(scale);
  const at::Tensor weights = at::bmm(queries, keys.permute({1, 2, 0})).softmax(-1);
  return at::bmm(weights, values.permute({1, 0, 2})).view(q.sizes());
}

}  // namespace

Decoder::Decoder(const ModelConfig& config, Builder& builder)
    : config_(config),
      options_(builder.options()),
      device_(builder.device()),
      type_(builder.type()) {
  const ModelOptions& options = options_;
  has_dropout_ =
      options.trained == Trained::adapters && options.lora.language && options.lora.dropout > 0;
  table_ = builder.linear("model.embed_tokens", false, Place::other);
  for (int64_t i = 0; i < config.layers; ++i) {
    const std::string name = "model.layers." + std::to_string(i) + ".";
    DecoderLayer layer;
    layer.norm1 = builder.vector(name + "input_layernorm.weight");
    layer.q = builder.linear(name + "self_attn.q_proj", true, Place::block);
    layer.k = builder.linear(name + "self_attn.k_proj", true, Place::block);
    layer.v = builder.linear(name + "self_attn.v_proj", true, Place::block);
    layer.o = builder.linear(name + "self_attn.o_proj", false, Place::block);
    layer.norm2 = builder.vector(name + "post_attention_layernorm.weight");
    layer.gate = builder.linear(name + "mlp.gate_proj", false, Place::block);
    layer.up = builder.linear(name + "mlp.up_proj", false, Place::block);
    layer.down = builder.linear(name + "mlp.down_proj", false, Place::block);
    layers_.push_back(std::move(layer));
  }
  norm_ = builder.vector("model.norm.weight");
  head_ = config.tie_word_embeddings ? table_ : builder.linear("lm_head", false, Place::other);
}

at::Tensor Decoder::embed(const at::Tensor& ids) const {
  return table_.weight.defined() ? at::embedding(table_.weight, ids).to(type_)
                                 : table_.stored.pick(ids, type_);
}

Rotation Decoder::rotation(const std::array<std::vector<int64_t>, 3>& positions) const {
  const int64_t size = config_.head_dim();
  const at::Tensor exponents = at::arange(0, size, 2, at::kFloat).div_(static_cast<double>(size));
  const at::Tensor frequencies = at::pow(config_.rope_theta, exponents).reciprocal_();
  std::vector<int64_t> axes;  // Of each frequency.
  for (size_t axis = 0; axis < 3; ++axis) {
    axes.insert(axes.end(), static_cast<size_t>(config_.mrope_section[axis]),
                static_cast<int64_t>(axis));
  }
  std::vector<at::Tensor> columns;
  for (const std::vector<int64_t>& axis : positions) {
    columns.push_back(at::tensor(axis, at::kLong).to(at::kFloat));
  }
  const at::Tensor chosen = at::stack(columns, 1).index_select(1, at::tensor(axes, at::kLong));
  return rotation_of((chosen * frequencies).to(device_));
}

at::Tensor Decoder::layer(const DecoderLayer& layer, const at::Tensor& x, const Rotation& rotation,
                          const Attend& attend_tokens, bool is_training) const {
  const int64_t tokens = x.size(0);
  const int64_t size = config_.head_dim();
  at::Tensor mixed;
  {
    Remade normed = remade_rms_norm(x, layer.norm1, config_.rms_norm_eps);
    const at::Tensor q =
        rotate(layer.q.apply(normed, is_training).view({tokens, config_.heads, size}), rotation);
    const at::Tensor k =
        rotate(layer.k.apply(normed, is_training).view({tokens, config_.kv_heads, size}), rotation);
    const at::Tensor v = layer.v.apply(normed, is_training).view({tokens, config_.kv_heads, size});
    normed = {};
    mixed = attend_tokens(q, k, v).view({tokens, config_.heads * size});
  }
  const at::Tensor middle = layer.o.apply(mixed, is_training).add_(x);
  mixed.reset();
  Remade inner;
  {
    const Remade normed = remade_rms_norm(middle, layer.norm2, config_.rms_norm_eps);
    inner =
        remade_swiglu(layer.gate.apply(normed, is_training), layer.up.apply(normed, is_training));
  }
  return layer.down.apply(inner, is_training).add_(middle);
}

at::Tensor Decoder::layers(const at::Tensor& embedded, const Rotation& turned,
                           const std::vector<int64_t>& row_bounds, const Pass& pass) const {
  const int64_t count = embedded.size(0);
  // Tokens that nobody sees, to which nobody's gradient goes.
  const int64_t more = computed_length(options_, count) - count;
  const Rotation rotation = lengthened(turned, more);
  const AttentionShape shape{lengthened(row_bounds, more), true, pass.attention_chunk};
  const Attend attend_rows = [shape](const at::Tensor& q, const at::Tensor& k,
                                     const at::Tensor& v) { return attend(q, k, v, shape); };
  at::Tensor x = lengthened(embedded, more);
  for (size_t i = 0; i < layers_.size(); ++i) {
    const Layer run = [this, i, rotation, attend_rows,
                       is_training = pass.is_training](const at::Tensor& input) {
      return layer(layers_[i], input, rotation, attend_rows, is_training);
    };
    x = pass.is_checkpointed ? checkpointed(run, x, has_dropout_ && pass.is_training) : run(x);
    pass.note("model.layers." + std::to_string(i), shortened(x, count));
  }
  return shortened(x, count);
}

at::Tensor Decoder::continue_layers(const at::Tensor& embedded, const Rotation& rotation,
                                    KeyValueCache& cache, int64_t attention_chunk) const {
  const at::NoGradGuard without_graph;
  const bool is_first = cache.keys.empty();
  if (is_first) {
    cache.keys.resize(layers_.size());
    cache.values.resize(layers_.size());
  }
  const AttentionShape shape{{0, embedded.size(0)}, true, attention_chunk};
  at::Tensor x = embedded;
  for (size_t i = 0; i < layers_.size(); ++i) {
    const Attend with_cache = [&](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
      at::Tensor& keys = cache.keys[i];
      at::Tensor& values = cache.values[i];
      keys = is_first ? k : at::cat({keys, k});
      values = is_first ? v : at::cat({values, v});
      return is_first ? attend(q, k, v, shape) : attend_one(q, keys, values);
    };
    x = layer(layers_[i], x, rotation, with_cache, false);
  }
  return x;
}

at::Tensor Decoder::final_norm(const at::Tensor& x) const {
  return rms_norm(x, norm_, config_.rms_norm_eps);
}

at::Tensor Decoder::logits(const at::Tensor& x) const {
  return head_.apply(final_norm(x), false);
}

}  // namespace plateau::train
