// SPDX-License-Identifier: Apache-2.0
// What config.json says of a model's size: a decoder and, of a vision-language model, its tower.
//
// Families whose counts and activations are checked against transformers: llama, mistral, qwen2,
// qwen3, phi3, gemma2, gemma3, qwen2_vl, qwen2_5_vl, qwen3_vl. Any other decoder with the usual
// keys is counted as a Llama, and `notes` says so. Nothing absurd passes: every size has a bound,
// so that sums of products stay far below what a double counts exactly or nearly so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace plateau {

// A stack of equal layers.
struct TowerShape {
  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t inner = 0;  // Of the MLP; of one expert where there are experts.
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t head_dim = 0;
  int64_t norms = 2;           // Of a layer.
  bool is_layer_norm = false;  // With a bias, as vision towers have; else RMS norm.
  bool is_gated = true;        // Three matrices an MLP, else two.
  bool has_qk_norm = false;    // Queries and keys are normed head by head.
  bool has_qkv_bias = false;
  bool has_output_bias = false;  // Of the output projection.
  bool has_mlp_bias = false;
  bool fuses_qkv = false;     // One matrix "qkv".
  bool fuses_inputs = false;  // Phi 3's decoder: "qkv_proj", and "gate_up_proj" of both.
  bool softcaps_scores = false;
  int64_t experts = 0;       // 0: a plain MLP.
  int64_t experts_used = 0;  // By a token.

  [[nodiscard]] int64_t query_values() const { return heads * head_dim; }
  [[nodiscard]] int64_t key_values() const { return kv_heads * head_dim; }
};

struct VisionShape {
  TowerShape tower;
  int64_t patch = 14;      // Pixels of a side.
  int64_t frames = 1;      // That a patch spans: a picture is stored as many times.
  int64_t merge = 1;       // Patches of a side that become one token.
  int64_t fixed_side = 0;  // Pixels of a side to which every picture is resized; 0: as it is.
  int64_t fixed_tokens = 0;
  bool is_resized_by_pixels = false;  // Qwen's: sides in multiples of patch x merge, within limits.
  double extra_parameters = 0;        // Patch embedding, positions, merger or projector.
  std::vector<double> extra_linear;   // Of these, the matrices that NF4 stores in four bits.
};

struct ModelShape {
  std::string model_type;
  TowerShape text;
  int64_t vocabulary = 0;
  bool is_tied = false;
  bool softcaps_logits = false;
  bool is_gemma_norm = false;  // Norms work in 32 bits to their end.
  std::optional<VisionShape> vision;
  std::string dtype;  // As stored: "bfloat16"; "" if it does not say.
  std::vector<std::string> notes;
};

// `file` is for messages.
Result<ModelShape> parse_model_shape(std::string_view json, const std::string& file);
// Of a model's directory or of a config.json.
Result<ModelShape> read_model_shape(const std::string& path);

// Limits of the preprocessor for pictures, from preprocessor_config.json beside the configuration;
// the published ones of the family where there is none.
struct PixelLimits {
  int64_t least = 3136;
  int64_t most = 12845056;
  bool is_read = false;
};
Result<PixelLimits> read_pixel_limits(const std::string& path, const ModelShape& shape);

}  // namespace plateau
