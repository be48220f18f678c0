// SPDX-License-Identifier: Apache-2.0
// What transformers takes for a size that the part of a configuration leaves out.
//
// Releases 4.45 to 4.5x save "text_config" and "vision_config" without what equals the defaults of
// their classes: a fine-tuned Qwen2.5-VL 7B has a "vision_config" of six keys, and Google's own
// Gemma 3 has no number of heads. Keys of the whole are always written, so nothing stands in for
// those.
#pragma once

#include <cstdint>
#include <string_view>

namespace plateau {

// 0: there is no default, so what is missing is an error.
struct DefaultSizes {
  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t inner = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t vocabulary = 0;
};

// Of "text_config" and of "vision_config", by the model_type of the whole.
DefaultSizes text_defaults(std::string_view family);
DefaultSizes vision_defaults(std::string_view family);

}  // namespace plateau
