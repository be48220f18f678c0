// SPDX-License-Identifier: Apache-2.0
#include "trainer/store/config_check.h"

#include <fmt/format.h>

#include <cmath>
#include <initializer_list>
#include <set>

namespace plateau::train {
namespace {

using Complaint = std::optional<std::string>;

Complaint in_text(const ModelConfig& config) {
  if (config.hidden_size % config.heads != 0) {
    return fmt::format("hidden_size {} is not a multiple of num_attention_heads {}",
                       config.hidden_size, config.heads);
  }
  if (config.heads % config.kv_heads != 0) {
    return fmt::format("num_attention_heads {} is not a multiple of num_key_value_heads {}",
                       config.heads, config.kv_heads);
  }
  int64_t sum = 0;
  for (const int64_t section : config.mrope_section) {
    if (section < 0 || section > config.head_dim()) {
      return fmt::format("mrope_section holds {}", section);
    }
    sum += section;
  }
  if (config.head_dim() % 2 != 0 || sum != config.head_dim() / 2) {
    return fmt::format("mrope_section adds up to {}, expected half of the head size {}", sum,
                       config.head_dim());
  }
  if (!(config.rms_norm_eps > 0 && config.rms_norm_eps < 1)) {
    return fmt::format("rms_norm_eps is {}, expected a small positive number", config.rms_norm_eps);
  }
  if (!(config.rope_theta >= 1 && std::isfinite(config.rope_theta))) {
    return fmt::format("rope_theta is {}, expected at least 1", config.rope_theta);
  }
  return std::nullopt;
}

Complaint in_tokens(const ModelConfig& config) {
  struct Token {
    const char* key;
    int64_t id;
    bool optional;
  };
  for (const Token& token : {Token{"image_token_id", config.image_token, false},
                             Token{"video_token_id", config.video_token, false},
                             Token{"vision_start_token_id", config.vision_start_token, false},
                             Token{"vision_end_token_id", config.vision_end_token, false},
                             Token{"bos_token_id", config.bos_token, true},
                             Token{"eos_token_id", config.eos_token, true}}) {
    if (token.optional && token.id == -1) continue;
    if (token.id < 0 || token.id >= config.vocab_size) {
      return fmt::format("{} is {}, which is no token of a vocabulary of {}", token.key, token.id,
                         config.vocab_size);
    }
  }
  return std::nullopt;
}

Complaint in_vision(const VisionConfig& vision) {
  if (vision.hidden_size % vision.heads != 0) {
    return fmt::format("vision_config.hidden_size {} is not a multiple of num_heads {}",
                       vision.hidden_size, vision.heads);
  }
  if (vision.head_dim() % 4 != 0) {
    return fmt::format("the vision head size is {}, expected a multiple of 4 (two axes of pairs)",
                       vision.head_dim());
  }
  const int64_t cell = vision.patch_size * vision.merge_size;
  if (vision.window_size < cell) {
    return fmt::format("vision_config.window_size {} holds no token, which is {} pixels wide",
                       vision.window_size, cell);
  }
  std::set<int64_t> seen;
  for (const int64_t block : vision.full_attention_blocks) {
    if (block < 0 || block >= vision.depth || !seen.insert(block).second) {
      return fmt::format("fullatt_block_indexes: {} is no block of {}, or stands twice", block,
                         vision.depth);
    }
  }
  if (!(vision.tokens_per_second > 0 && std::isfinite(vision.tokens_per_second))) {
    return fmt::format("tokens_per_second is {}, expected a positive number",
                       vision.tokens_per_second);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> config_contradiction(const ModelConfig& config) {
  if (Complaint complaint = in_text(config)) return complaint;
  if (Complaint complaint = in_tokens(config)) return complaint;
  if (Complaint complaint = in_vision(config.vision)) return complaint;
  if (config.vision.out_hidden_size != config.hidden_size) {
    return fmt::format("vision_config.out_hidden_size {} is not hidden_size {}",
                       config.vision.out_hidden_size, config.hidden_size);
  }
  return std::nullopt;
}

}  // namespace plateau::train
