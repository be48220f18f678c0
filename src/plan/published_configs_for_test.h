// SPDX-License-Identifier: Apache-2.0
// Configurations of published models, their sizes only, and how many weights transformers 5.22
// makes of each on torch's meta device.
#pragma once

#include <array>

namespace plateau {

struct PublishedConfig {
  const char* name;
  const char* json;
  double parameters;
};

inline constexpr std::array<PublishedConfig, 18> kPublishedConfigs = {
    {{"Llama 3.1 8B",
      R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
          "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256, "torch_dtype": "bfloat16",
          "tie_word_embeddings": false})",
      8'030'261'248},
     {"Mistral 7B",
      R"({"model_type": "mistral", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
          "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 32000, "tie_word_embeddings": false})",
      7'241'732'096},
     {"Gemma 2 9B",
      R"({"model_type": "gemma2", "hidden_size": 3584, "intermediate_size": 14336, "num_hidden_layers": 42,
          "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 256, "vocab_size": 256000})",
      9'241'705'984},
     {"Qwen3 8B",
      R"({"model_type": "qwen3", "hidden_size": 4096, "intermediate_size": 12288, "num_hidden_layers": 36,
          "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936,
          "tie_word_embeddings": false})",
      8'190'735'360},
     {"Mixtral 8x7B",
      R"({"model_type": "mixtral", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
          "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 32000, "num_local_experts": 8,
          "num_experts_per_tok": 2, "tie_word_embeddings": false})",
      46'702'792'704},
     {"Qwen2.5-VL 7B",
      R"({"model_type": "qwen2_5_vl", "hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28,
          "num_attention_heads": 28, "num_key_value_heads": 4, "vocab_size": 152064, "tie_word_embeddings": false,
          "vision_config": {"depth": 32, "hidden_size": 1280, "intermediate_size": 3420, "num_heads": 16,
          "patch_size": 14, "spatial_merge_size": 2, "temporal_patch_size": 2, "out_hidden_size": 3584}})",
      8'292'166'656},
     {"Qwen2-VL 2B",
      R"({"model_type": "qwen2_vl", "tie_word_embeddings": true, "hidden_size": 1536, "intermediate_size": 8960,
          "num_hidden_layers": 28, "num_attention_heads": 12, "num_key_value_heads": 2, "vocab_size": 151936,
          "vision_config": {"depth": 32, "embed_dim": 1280, "hidden_size": 1536, "mlp_ratio": 4, "num_heads": 16,
          "patch_size": 14, "spatial_merge_size": 2, "temporal_patch_size": 2}})",
      2'208'985'600},
     {"Qwen3-VL 8B",
      R"({"model_type": "qwen3_vl", "tie_word_embeddings": false, "text_config": {"model_type": "qwen3_vl_text",
          "hidden_size": 4096, "intermediate_size": 12288, "num_hidden_layers": 36, "num_attention_heads": 32,
          "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936}, "vision_config": {"depth": 27,
          "hidden_size": 1152, "intermediate_size": 4304, "num_heads": 16, "patch_size": 16, "spatial_merge_size": 2,
          "temporal_patch_size": 2, "out_hidden_size": 4096, "num_position_embeddings": 2304,
          "deepstack_visual_indexes": [8, 16, 24]}})",
      8'767'123'696},
     {"Gemma 3 4B",
      R"({"model_type": "gemma3", "mm_tokens_per_image": 256, "text_config": {"model_type": "gemma3_text",
          "hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34, "num_attention_heads": 8,
          "num_key_value_heads": 4, "head_dim": 256, "vocab_size": 262208}, "vision_config": {"hidden_size": 1152,
          "intermediate_size": 4304, "num_hidden_layers": 27, "num_attention_heads": 16, "image_size": 896,
          "patch_size": 14}})",
      4'300'079'472},
     {"Qwen3-VL 2B",
      R"({"model_type": "qwen3_vl", "tie_word_embeddings": true, "text_config": {"model_type":
          "qwen3_vl_text", "attention_bias": false, "head_dim": 128, "hidden_size": 2048,
          "intermediate_size": 6144, "num_hidden_layers": 28, "num_attention_heads": 16,
          "num_key_value_heads": 8, "vocab_size": 151936, "tie_word_embeddings": true}, "vision_config":
          {"model_type": "qwen3_vl", "deepstack_visual_indexes": [5, 11, 17], "depth": 24, "hidden_size":
          1024, "intermediate_size": 4096, "num_heads": 16, "num_position_embeddings": 2304,
          "out_hidden_size": 2048, "patch_size": 16, "spatial_merge_size": 2, "temporal_patch_size": 2}})",
      2'127'532'032},
     {"Qwen2.5-VL 7B, saved without defaults",
      R"({"model_type": "qwen2_5_vl", "hidden_size": 3584, "intermediate_size": 18944,
          "num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4, "vocab_size":
          152064, "tie_word_embeddings": false, "vision_config": {"hidden_size": 1280, "in_chans": 3,
          "model_type": "qwen2_5_vl", "spatial_patch_size": 14}})",
      8'292'166'656},
     {"Llama 3.2 1B",
      R"({"model_type": "llama", "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16,
          "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256,
          "tie_word_embeddings": true, "head_dim": 64, "attention_bias": false, "mlp_bias": false})",
      1'235'814'400},
     {"a Llama with biases",
      R"({"model_type": "llama", "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16,
          "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256,
          "tie_word_embeddings": false, "attention_bias": true, "mlp_bias": true})",
      1'498'859'520},
     {"Mistral Nemo 12B",
      R"({"model_type": "mistral", "hidden_size": 5120, "intermediate_size": 14336, "num_hidden_layers":
          40, "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 131072,
          "tie_word_embeddings": false, "head_dim": 128})",
      12'247'782'400},
     {"Gemma 2 2B",
      R"({"model_type": "gemma2", "hidden_size": 2304, "intermediate_size": 9216, "num_hidden_layers":
          26, "num_attention_heads": 8, "num_key_value_heads": 4, "vocab_size": 256000, "head_dim": 256})",
      2'614'341'888},
     {"Gemma 3 27B",
      R"({"model_type": "gemma3", "mm_tokens_per_image": 256, "text_config": {"model_type":
          "gemma3_text", "hidden_size": 5376, "intermediate_size": 21504, "num_attention_heads": 32,
          "num_hidden_layers": 62, "num_key_value_heads": 16, "head_dim": 128}, "vision_config":
          {"hidden_size": 1152, "image_size": 896, "intermediate_size": 4304, "model_type":
          "siglip_vision_model", "num_attention_heads": 16, "num_hidden_layers": 27, "patch_size": 14}})",
      27'432'406'640},
     {"Phi-4 mini",
      R"({"model_type": "phi3", "hidden_size": 3072, "intermediate_size": 8192, "num_hidden_layers": 32,
          "num_attention_heads": 24, "num_key_value_heads": 8, "vocab_size": 200064,
          "tie_word_embeddings": true})",
      3'836'021'760},
     {"Qwen2.5 0.5B",
      R"({"model_type": "qwen2", "hidden_size": 896, "intermediate_size": 4864, "num_hidden_layers": 24,
          "num_attention_heads": 14, "num_key_value_heads": 2, "vocab_size": 151936,
          "tie_word_embeddings": true})",
      494'032'768}}};

}  // namespace plateau
