// SPDX-License-Identifier: Apache-2.0
// What config.json says of a Qwen2.5-VL: sizes, special tokens, rotary sections.
//
// Nothing has a default that a file could silently fall back to: the library's own defaults are
// wrong for the published models, so a key that is missing is an error that names it. Read are the
// flat form of the hub and the nested form (text_config, vision_config) of newer versions, with
// either spelling of a key.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace plateau::train {

struct VisionConfig {
  int64_t depth = 0;
  int64_t hidden_size = 0;
  int64_t intermediate_size = 0;
  int64_t heads = 0;
  int64_t in_channels = 3;
  int64_t patch_size = 14;
  int64_t temporal_patch_size = 2;
  int64_t merge_size = 2;     // Patches of a side that become one token.
  int64_t window_size = 112;  // Pixels of a side.
  int64_t out_hidden_size = 0;
  std::vector<int64_t> full_attention_blocks;
  double tokens_per_second = 2;

  [[nodiscard]] int64_t head_dim() const { return hidden_size / heads; }
  // Values of one patch as the image processor stores it: channels x frames x side x side.
  [[nodiscard]] int64_t patch_values() const {
    return in_channels * temporal_patch_size * patch_size * patch_size;
  }
};

struct ModelConfig {
  int64_t hidden_size = 0;
  int64_t intermediate_size = 0;
  int64_t layers = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t vocab_size = 0;
  bool tie_word_embeddings = false;
  double rms_norm_eps = 0;
  double rope_theta = 0;
  std::array<int64_t, 3> mrope_section{};  // Sums to head_dim() / 2.
  int64_t image_token = 0;
  int64_t video_token = 0;
  int64_t vision_start_token = 0;
  int64_t vision_end_token = 0;
  int64_t bos_token = -1;  // -1: the file does not say; nothing computed here depends on it.
  int64_t eos_token = -1;  // The same.
  VisionConfig vision;

  [[nodiscard]] int64_t head_dim() const { return hidden_size / heads; }
};

// `file` is for the message. Sizes that cannot fit each other are errors too.
Result<ModelConfig> parse_model_config(std::string_view json, const std::string& file);
Result<ModelConfig> read_model_config(const std::filesystem::path& model_directory);

// "qwen2.5-vl-3b", "qwen2.5-vl-7b": no files needed; "tiny" and "small": what `plateau-train init`
// writes. Of its 1,024 tokens the last 22 are the added ones of Qwen2.5, in their order (1002:
// endoftext).
Result<ModelConfig> preset_config(std::string_view name);

// The same as the flat JSON that the hub has, which parse_model_config() reads back.
std::string config_json(const ModelConfig& config);

}  // namespace plateau::train
