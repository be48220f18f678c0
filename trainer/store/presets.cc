// SPDX-License-Identifier: Apache-2.0
// Configurations that are known without a file, and how one is written.
//
// "tiny" is small enough for two cores and a minute, and still has each part of the real thing:
// grouped heads, three rotary sections, blocks with windows and blocks without, a tied head. Its
// window of 56 pixels is a quarter of a 112-pixel picture, so that windows matter there. "small" is
// forty times as large: for measuring, not for learning.
#include <fmt/format.h>

#include <span>

#include "base/json_writer.h"
#include "trainer/store/model_config.h"

namespace plateau::train {
namespace {

constexpr int64_t kMaxPositions = 128000;  // As published; the rotary angles set no limit.

// What the published sizes share.
ModelConfig published() {
  ModelConfig config;
  config.rms_norm_eps = 1e-6;
  config.rope_theta = 1e6;
  config.mrope_section = {16, 24, 24};
  config.bos_token = 151643;
  config.eos_token = 151645;
  config.vision_start_token = 151652;
  config.vision_end_token = 151653;
  config.image_token = 151655;
  config.video_token = 151656;
  config.vision.depth = 32;
  config.vision.hidden_size = 1280;
  config.vision.intermediate_size = 3420;
  config.vision.heads = 16;
  config.vision.full_attention_blocks = {7, 15, 23, 31};
  return config;
}

ModelConfig published_3b() {
  ModelConfig config = published();
  config.hidden_size = config.vision.out_hidden_size = 2048;
  config.intermediate_size = 11008;
  config.layers = 36;
  config.heads = 16;
  config.kv_heads = 2;
  config.vocab_size = 151936;
  config.tie_word_embeddings = true;
  return config;
}

ModelConfig published_7b() {
  ModelConfig config = published();
  config.hidden_size = config.vision.out_hidden_size = 3584;
  config.intermediate_size = 18944;
  config.layers = 28;
  config.heads = 28;
  config.kv_heads = 4;
  config.vocab_size = 152064;
  config.tie_word_embeddings = false;
  return config;
}

ModelConfig tiny() {
  ModelConfig config = published();
  config.hidden_size = config.vision.out_hidden_size = 128;
  config.intermediate_size = 352;
  config.layers = 4;
  config.heads = 4;
  config.kv_heads = 2;
  config.vocab_size = 1024;
  config.tie_word_embeddings = true;
  config.mrope_section = {4, 6, 6};
  // The 22 tokens that the tokenizer adds are the last of the vocabulary, in their usual order.
  const int64_t first_added = config.vocab_size - 22;
  config.bos_token = first_added;
  config.eos_token = first_added + 2;
  config.vision_start_token = first_added + 9;
  config.vision_end_token = first_added + 10;
  config.image_token = first_added + 12;
  config.video_token = first_added + 13;
  config.vision.depth = 4;
  config.vision.hidden_size = 64;
  config.vision.intermediate_size = 176;
  config.vision.heads = 4;
  config.vision.window_size = 56;
  config.vision.full_attention_blocks = {1, 3};
  return config;
}

ModelConfig small() {
  ModelConfig config = tiny();
  config.hidden_size = config.vision.out_hidden_size = 512;
  config.intermediate_size = 1408;
  config.layers = 8;
  config.heads = 8;
  config.mrope_section = {8, 12, 12};
  config.vision.depth = 8;
  config.vision.hidden_size = 320;
  config.vision.intermediate_size = 864;
  config.vision.window_size = 112;
  config.vision.full_attention_blocks = {3, 7};
  return config;
}

void write_list(JsonWriter& json, std::string_view key, std::span<const int64_t> values) {
  json.key(key).begin_array();
  for (const int64_t value : values) json.value(value);
  json.end_array();
}

void write_vision(JsonWriter& json, const VisionConfig& vision) {
  json.key("vision_config").begin_object();
  json.key("depth").value(vision.depth);
  json.key("hidden_act").value("silu");
  json.key("hidden_size").value(vision.hidden_size);
  json.key("intermediate_size").value(vision.intermediate_size);
  json.key("num_heads").value(vision.heads);
  json.key("in_chans").value(vision.in_channels);
  json.key("out_hidden_size").value(vision.out_hidden_size);
  json.key("patch_size").value(vision.patch_size);
  json.key("spatial_merge_size").value(vision.merge_size);
  json.key("spatial_patch_size").value(vision.patch_size);
  json.key("window_size").value(vision.window_size);
  write_list(json, "fullatt_block_indexes", vision.full_attention_blocks);
  json.key("tokens_per_second").value(vision.tokens_per_second);
  json.key("temporal_patch_size").value(vision.temporal_patch_size);
  json.end_object();
}

}  // namespace

Result<ModelConfig> preset_config(std::string_view name) {
  if (name == "qwen2.5-vl-3b") return published_3b();
  if (name == "qwen2.5-vl-7b") return published_7b();
  if (name == "tiny") return tiny();
  if (name == "small") return small();
  return Error{
      Error::Kind::usage,
      fmt::format("no preset \"{}\": there are qwen2.5-vl-3b, qwen2.5-vl-7b, tiny and small",
                  name)};
}

std::string config_json(const ModelConfig& config) {
  JsonWriter json;
  json.begin_object();
  json.key("architectures").begin_array();
  json.value("Qwen2_5_VLForConditionalGeneration").end_array();
  json.key("model_type").value("qwen2_5_vl");
  json.key("attention_dropout").value(0.0);
  if (config.bos_token >= 0) json.key("bos_token_id").value(config.bos_token);
  if (config.eos_token >= 0) json.key("eos_token_id").value(config.eos_token);
  json.key("vision_start_token_id").value(config.vision_start_token);
  json.key("vision_end_token_id").value(config.vision_end_token);
  json.key("image_token_id").value(config.image_token);
  json.key("video_token_id").value(config.video_token);
  json.key("hidden_act").value("silu");
  json.key("hidden_size").value(config.hidden_size);
  json.key("initializer_range").value(0.02);
  json.key("intermediate_size").value(config.intermediate_size);
  json.key("max_position_embeddings").value(kMaxPositions);
  json.key("num_attention_heads").value(config.heads);
  json.key("num_hidden_layers").value(config.layers);
  json.key("num_key_value_heads").value(config.kv_heads);
  json.key("rms_norm_eps").value(config.rms_norm_eps);
  json.key("rope_theta").value(config.rope_theta);
  json.key("tie_word_embeddings").value(config.tie_word_embeddings);
  json.key("use_cache").value(true);
  json.key("use_sliding_window").value(false);
  json.key("vocab_size").value(config.vocab_size);
  json.key("rope_scaling").begin_object().key("type").value("mrope");
  write_list(json, "mrope_section", config.mrope_section);
  json.end_object();
  write_vision(json, config.vision);
  json.end_object();
  return json.take();
}

}  // namespace plateau::train
