// SPDX-License-Identifier: Apache-2.0
#include "trainer/plan/activations.h"

#include <algorithm>

namespace plateau::train {
namespace {

constexpr int64_t kFloat = 4;                       // Bytes of what is in fp32 always.
constexpr int64_t kStripValues = int64_t{1} << 20;  // Of scores, at a time, at least.

// What one layer is made of, for both towers.
struct Sizes {
  int64_t hidden = 0;
  int64_t keys = 0;  // Values of keys of a token, and the same of values.
  int64_t inner = 0;
  int64_t heads = 0;
  int64_t shared = 1;  // Query heads of a kv head.
  bool has_attention_adapters = false;
  bool has_mlp_adapters = false;
  int64_t attention_products = 0;  // Adapters fed by x: q, k, v; or qkv.
};

// Scores of one strip of queries against all keys, twice: the strip and its gradient. In fp32
// whatever is computed in.
int64_t strip_bytes(const Sizes& sizes, const ModelOptions& options, int64_t length) {
  const int64_t strip = sizes.shared * std::min(options.attention_chunk, length) * length;
  return 2 * kFloat * std::max(strip, std::min(kStripValues, strip * sizes.heads));
}

// What a matrix takes that is converted for a product, piece by piece or whole if it is small.
int64_t converted_bytes(const ModelOptions& options, int64_t values) {
  const int64_t piece = std::min(kPieceBytes / kFloat, values);
  switch (options.storage) {
    case BaseStorage::fp32:
      return options.compute == ComputeType::fp32 ? 0 : piece * value_bytes(options);
    case BaseStorage::bf16:
      return options.compute == ComputeType::fp32 ? piece * kFloat : 0;
    case BaseStorage::nf4:
      break;
  }
  // From NF4 by way of fp32.
  return piece * (options.compute == ComputeType::fp32 ? kFloat : kFloat + value_bytes(options));
}

// What a token keeps for the way back, in bytes.
struct KeptBytes {
  int64_t attention = 0;
  int64_t mlp = 0;
};

KeptBytes kept_bytes(const Sizes& sizes, const ModelOptions& options) {
  const int64_t rank = options.trained == Trained::everything ? 0 : options.lora.rank;
  int64_t attention = 3 * sizes.hidden + 2 * sizes.keys;  // The norm's input, q, k, v, the result.
  // x A' of each, and of the output's. Normed inputs and the MLP's inner values are made again.
  if (sizes.has_attention_adapters) attention += (sizes.attention_products + 1) * rank;
  int64_t mlp = sizes.hidden + 2 * sizes.inner;  // The norm's input, gate and up.
  if (sizes.has_mlp_adapters) mlp += 3 * rank;
  if (options.lora.dora) {
    // Products before they are scaled: q, k, v and the output's; gate, up and down.
    if (sizes.has_attention_adapters) attention += 2 * sizes.hidden + 2 * sizes.keys;
    if (sizes.has_mlp_adapters) mlp += 2 * sizes.inner + sizes.hidden;
  }
  // In fp32: a number for each norm, and the sums of attention.
  const int64_t value = value_bytes(options);
  return {.attention = attention * value + (1 + sizes.heads) * kFloat, .mlp = mlp * value + kFloat};
}

LayerMemory layer(const Sizes& sizes, const ModelOptions& options, int64_t count, int64_t longest) {
  const int64_t tokens = computed_length(options, count);
  const int64_t value = value_bytes(options);
  const KeptBytes kept = kept_bytes(sizes, options);
  LayerMemory out;
  out.input = tokens * sizes.hidden * value;
  out.kept = tokens * (kept.attention + kept.mlp);
  // The gradients of the MLP's three inner tensors, of its input and of the layer's output exist at
  // once; in attention those of q, k, v and of the result, with a strip of scores, when what the
  // MLP kept is gone.
  const int64_t in_mlp = tokens * (3 * sizes.inner + 2 * sizes.hidden) * value;
  const int64_t in_attention =
      tokens * (4 * sizes.hidden + 4 * sizes.keys) * value + strip_bytes(sizes, options, longest);
  out.working = std::max(in_mlp, in_attention - tokens * kept.mlp);
  if (options.compute == ComputeType::bf16) {
    // A norm goes back in fp32: input, gradient, result and a product of two, beside both
    // gradients.
    out.working = std::max(out.working, tokens * sizes.hidden * (4 * kFloat + 2 * value));
  }
  const int64_t matrix = sizes.hidden * std::max(sizes.inner, sizes.hidden + 2 * sizes.keys);
  out.working += converted_bytes(options, matrix);
  // Lengths of rows need the sum of weights and adapter; the way back a gradient that is scaled.
  if (options.lora.dora) {
    out.working += std::min(kPieceBytes, matrix * kFloat) + tokens * sizes.inner * value;
  }
  // A matrix's new gradient stands beside the sum of those before it until it is added.
  if (options.trained == Trained::everything) out.working += matrix * kFloat;
  return out;
}

}  // namespace

int64_t value_bytes(const ModelOptions& options) {
  return options.compute == ComputeType::bf16 ? 2 : kFloat;
}

LayerMemory text_layer(const ModelConfig& config, const ModelOptions& options, int64_t tokens,
                       int64_t longest_row) {
  const LoraOptions& lora = options.lora;
  return layer({.hidden = config.hidden_size,
                .keys = config.kv_heads * config.head_dim(),
                .inner = config.intermediate_size,
                .heads = config.heads,
                .shared = config.heads / config.kv_heads,
                .has_attention_adapters = lora.language && lora.attention,
                .has_mlp_adapters = lora.language && lora.mlp,
                .attention_products = 3},
               options, tokens, longest_row);
}

LayerMemory vision_layer(const ModelConfig& config, const ModelOptions& options, int64_t patches,
                         int64_t longest_sequence) {
  const LoraOptions& lora = options.lora;
  return layer({.hidden = config.vision.hidden_size,
                .keys = config.vision.hidden_size,
                .inner = config.vision.intermediate_size,
                .heads = config.vision.heads,
                .shared = 1,
                .has_attention_adapters = lora.vision && lora.attention,
                .has_mlp_adapters = lora.vision && lora.mlp,
                .attention_products = 1},
               options, patches, longest_sequence);
}

}  // namespace plateau::train
