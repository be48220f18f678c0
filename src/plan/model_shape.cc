// SPDX-License-Identifier: Apache-2.0
#include "plan/model_shape.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/files.h"
#include "plan/json_fields.h"
#include "plan/library_defaults.h"

namespace plateau {
namespace {

namespace dom = simdjson::dom;

// Bounds that no published model comes near.
constexpr int64_t kMostLayers = 10'000;
constexpr int64_t kMostHidden = 1'000'000;
constexpr int64_t kMostInner = 10'000'000;
constexpr int64_t kMostHeads = 10'000;
constexpr int64_t kMostVocabulary = 100'000'000;
constexpr int64_t kMostExperts = 10'000;
constexpr int64_t kMostPixels = 1'000'000'000;
constexpr size_t kMostConfigBytes = 16'000'000;
constexpr size_t kMostTypeLetters = 100;

bool begins(std::string_view text, std::string_view with) {
  return text.starts_with(with);
}

// Families with a row in docs/plan.md's table of counts.
bool is_checked(std::string_view type) {
  constexpr std::string_view kChecked[] = {
      "llama",    "mistral",    "qwen2",         "qwen3",        "phi3",
      "gemma2",   "gemma3",     "gemma3_text",   "gemma",        "qwen2_vl",
      "qwen3_vl", "qwen2_5_vl", "qwen2_vl_text", "qwen3_vl_text"};
  for (const std::string_view each : kChecked) {
    if (each == type) return true;
  }
  return false;
}

void read_experts(JsonFields& fields, TowerShape& text) {
  text.experts =
      fields.size_or({"num_experts", "num_local_experts", "n_routed_experts"}, kMostExperts, 0);
  if (text.experts == 0) return;
  text.experts_used =
      fields.size_or({"num_experts_per_tok", "num_experts_per_token"}, kMostExperts, 1);
  text.inner = fields.size_or({"moe_intermediate_size"}, kMostInner, text.inner);
}

// What attention and MLP of a family are like; the biases that Llama's kin may have.
void read_traits(JsonFields& fields, const std::string& family, TowerShape& text) {
  if (begins(family, "gemma2") || begins(family, "gemma3")) text.norms = 4;
  text.has_qk_norm = begins(family, "qwen3") || begins(family, "gemma3");
  text.has_output_bias = fields.flag_or("attention_bias", false);
  text.has_qkv_bias = begins(family, "qwen2") || text.has_output_bias;
  text.has_mlp_bias = fields.flag_or("mlp_bias", false);
  text.fuses_inputs = family == "phi3";
  text.softcaps_scores =
      begins(family, "gemma2") && fields.real_or("attn_logit_softcapping", 50) > 0;
}

// `known` is what stands in for keys that are not there.
TowerShape read_text(JsonFields& fields, const std::string& family, const DefaultSizes& known) {
  TowerShape text;
  text.layers =
      fields.size_unless(known.layers, {"num_hidden_layers", "n_layer", "num_layers"}, kMostLayers);
  text.hidden = fields.size_unless(known.hidden, {"hidden_size", "n_embd", "d_model"}, kMostHidden);
  text.heads = fields.size_unless(known.heads, {"num_attention_heads", "n_head"}, kMostHeads);
  text.kv_heads = fields.size_or({"num_key_value_heads"}, kMostHeads,
                                 known.kv_heads > 0 ? known.kv_heads : text.heads);
  text.inner =
      fields.has("intermediate_size") || !fields.has("moe_intermediate_size")
          ? fields.size_unless(known.inner, {"intermediate_size", "n_inner", "ffn_dim"}, kMostInner)
          : fields.size({"moe_intermediate_size"}, kMostInner);
  const int64_t shared = std::max<int64_t>(1, text.hidden / text.heads);
  const bool is_qwen3 = family == "qwen3" || begins(family, "qwen3_vl");
  const int64_t usual = begins(family, "gemma") ? 256 : is_qwen3 ? 128 : shared;
  text.head_dim = fields.size_or({"head_dim"}, kMostHidden, usual);
  if (text.kv_heads > text.heads) fields.fail("num_key_value_heads", "is above the heads");
  read_traits(fields, family, text);
  read_experts(fields, text);
  return text;
}

// Sums for what is in no layer of a tower.
void add_matrix(VisionShape& vision, double rows, double columns, bool has_bias) {
  vision.extra_linear.push_back(rows * columns);
  vision.extra_parameters += rows * columns + (has_bias ? rows : 0);
}

VisionShape read_qwen_vision(JsonFields& fields, const std::string& family, int64_t text_hidden) {
  VisionShape vision;
  TowerShape& tower = vision.tower;
  const bool is_first = family == "qwen2_vl";
  const bool is_third = begins(family, "qwen3_vl");
  const DefaultSizes known = vision_defaults(family);
  tower.layers = fields.size_unless(known.layers, {"depth"}, kMostLayers);
  tower.hidden =
      fields.size_unless(known.hidden, {is_first ? "embed_dim" : "hidden_size"}, kMostHidden);
  tower.heads = fields.size_unless(known.heads, {"num_heads"}, kMostHeads);
  tower.kv_heads = tower.heads;
  tower.head_dim = std::max<int64_t>(1, tower.hidden / tower.heads);
  const double ratio = fields.real_or("mlp_ratio", 4);
  if (!(ratio > 0 && ratio <= 64)) fields.fail("mlp_ratio", "must be from 0 to 64");
  tower.inner =
      is_first ? static_cast<int64_t>(static_cast<double>(tower.hidden) * (fields.ok() ? ratio : 4))
               : fields.size_unless(known.inner, {"intermediate_size"}, kMostInner);
  tower.is_layer_norm = is_first || is_third;
  tower.is_gated = !is_first && !is_third;
  tower.has_qkv_bias = tower.has_output_bias = tower.has_mlp_bias = true;
  tower.fuses_qkv = true;
  vision.patch = fields.size_or({"patch_size", "spatial_patch_size"}, 1024, is_third ? 16 : 14);
  vision.frames = fields.size_or({"temporal_patch_size"}, 64, 2);
  vision.merge = fields.size_or({"spatial_merge_size"}, 64, 2);
  vision.is_resized_by_pixels = true;
  const auto hidden = static_cast<double>(tower.hidden);
  const double merged = hidden * static_cast<double>(vision.merge * vision.merge);
  const double patch = 3.0 * static_cast<double>(vision.frames * vision.patch * vision.patch);
  const auto out =
      static_cast<double>(is_first ? fields.size_or({"hidden_size"}, kMostHidden, text_hidden)
                                   : fields.size_or({"out_hidden_size"}, kMostHidden, text_hidden));
  vision.extra_parameters = patch * hidden + (is_third ? hidden : 0);
  if (is_third) {
    vision.extra_parameters +=
        static_cast<double>(fields.size_or({"num_position_embeddings"}, kMostVocabulary, 2304)) *
        hidden;
  }
  const int64_t deep = !is_third ? 0
                       : fields.has("deepstack_visual_indexes")
                           ? fields.length_of("deepstack_visual_indexes")
                           : 3;
  for (int64_t i = 0; i <= std::min(deep, kMostLayers); ++i) {
    // The last merger norms a patch, those beside the layers a merged one.
    vision.extra_parameters += (i == 0 ? hidden : merged) * (tower.is_layer_norm ? 2 : 1);
    add_matrix(vision, merged, merged, true);
    add_matrix(vision, out, merged, true);
  }
  return vision;
}

// SigLIP and its like: every picture the same size, learned positions.
VisionShape read_plain_vision(JsonFields& fields, const std::string& family, int64_t text_hidden,
                              int64_t tokens) {
  VisionShape vision;
  TowerShape& tower = vision.tower;
  const DefaultSizes known = vision_defaults(family);
  tower.layers = fields.size_unless(known.layers, {"num_hidden_layers", "depth"}, kMostLayers);
  tower.hidden = fields.size_unless(known.hidden, {"hidden_size", "embed_dim"}, kMostHidden);
  tower.heads = fields.size_or({"num_attention_heads", "num_heads"}, kMostHeads,
                               known.heads > 0 ? known.heads : 16);
  tower.kv_heads = tower.heads;
  tower.head_dim = std::max<int64_t>(1, tower.hidden / tower.heads);
  tower.inner = fields.size_unless(known.inner, {"intermediate_size"}, kMostInner);
  tower.is_layer_norm = true;
  tower.is_gated = false;
  tower.has_qkv_bias = tower.has_output_bias = tower.has_mlp_bias = true;
  const bool is_gemma = begins(family, "gemma3");
  vision.patch = fields.size_or({"patch_size"}, 1024, is_gemma ? 16 : 14);
  vision.fixed_side = fields.size_or({"image_size"}, 100'000, is_gemma ? 224 : 336);
  const auto hidden = static_cast<double>(tower.hidden);
  const auto across = static_cast<double>(std::max<int64_t>(1, vision.fixed_side / vision.patch));
  vision.fixed_tokens = tokens > 0 ? tokens : static_cast<int64_t>(across * across);
  const double patch = 3.0 * static_cast<double>(vision.patch * vision.patch);
  vision.extra_parameters = patch * hidden + hidden + across * across * hidden + 2 * hidden;
  const auto out = static_cast<double>(text_hidden);
  if (is_gemma) {
    // The projection is a bare parameter, which NF4 leaves alone.
    vision.extra_parameters += hidden * out + hidden;
  } else {
    add_matrix(vision, out, hidden, true);
    add_matrix(vision, out, out, true);
  }
  return vision;
}

Result<ModelShape> read_shape(JsonFields& root) {
  ModelShape shape;
  shape.model_type = root.text_or("model_type", "");
  const std::string& family = shape.model_type;
  if (family.size() > kMostTypeLetters) root.fail("model_type", "has more than 100 letters");
  if (!root.ok()) return root.error();
  std::optional<JsonFields> nested = root.inner("text_config");
  if (!nested) nested = root.inner("llm_config");
  // The published configurations of the first Qwen vision models have the decoder's keys beside
  // those of the whole.
  const bool is_nested = nested && (nested->has("hidden_size") || !root.has("hidden_size"));
  JsonFields& text = is_nested ? *nested : root;
  const std::string text_family = is_nested ? text.text_or("model_type", family) : family;
  const DefaultSizes known = is_nested ? text_defaults(family) : DefaultSizes{};
  shape.text = read_text(text, text_family.empty() ? family : text_family, known);
  shape.vocabulary = text.size_unless(known.vocabulary, {"vocab_size"}, kMostVocabulary);
  const bool is_gemma = begins(family, "gemma");
  // The library's own default, which configurations leave out when it holds.
  const bool text_is_tied = text.flag_or("tie_word_embeddings", is_gemma);
  shape.is_tied = root.flag_or("tie_word_embeddings", text_is_tied);
  // Older releases wrote it of the decoder only, with the whole's own false beside it.
  if (begins(family, "qwen2") && text_is_tied) shape.is_tied = true;
  shape.is_gemma_norm = is_gemma;
  shape.softcaps_logits =
      begins(family, "gemma2") && text.real_or("final_logit_softcapping", 30) > 0;
  shape.dtype = root.text_or("dtype", root.text_or("torch_dtype", text.text_or("dtype", "")));
  if (std::optional<JsonFields> vision = root.inner("vision_config")) {
    const int64_t tokens = root.size_or({"mm_tokens_per_image"}, 1'000'000, 0);
    shape.vision =
        begins(family, "qwen2_vl") || begins(family, "qwen2_5_vl") || begins(family, "qwen3_vl")
            ? read_qwen_vision(*vision, family, shape.text.hidden)
            : read_plain_vision(*vision, family, shape.text.hidden, tokens);
    root.take_error(*vision);
    if (!begins(family, "qwen") && !begins(family, "gemma3")) {
      shape.notes.push_back(
          "the vision tower is counted as a plain ViT with a two-layer projector");
    }
  }
  if (nested) root.take_error(*nested);
  if (!root.ok()) return root.error();
  if (!is_checked(family)) {
    shape.notes.push_back(fmt::format(
        "model_type \"{}\" was never checked: its decoder is counted as a Llama's", family));
  }
  return shape;
}

std::string config_path(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return path + "/config.json";
  return path;
}

Result<std::string> read_small(const std::string& path) {
  int error = 0;
  std::error_code ignored;
  if (std::filesystem::is_fifo(path, ignored)) {
    return Error{Error::Kind::bad_input, path + ": not a file"};
  }
  std::string text = read_file_at(AT_FDCWD, path, error, kMostConfigBytes + 1);
  if (error != 0) {
    return Error{Error::Kind::not_found, fmt::format("{}: {}", path, std::strerror(error))};
  }
  if (text.size() > kMostConfigBytes) {
    return Error{Error::Kind::bad_input,
                 fmt::format("{}: more than 16 MB; a config.json is expected", path)};
  }
  return text;
}

}  // namespace

Result<ModelShape> parse_model_shape(std::string_view json, const std::string& file) {
  dom::parser parser;
  dom::element document;
  const simdjson::error_code code = parser.parse(json.data(), json.size()).get(document);
  if (code != simdjson::SUCCESS) {
    return Error{Error::Kind::bad_input,
                 fmt::format("{}: not JSON: {}", file, simdjson::error_message(code))};
  }
  dom::object object;
  if (document.get_object().get(object) != simdjson::SUCCESS) {
    return Error{Error::Kind::bad_input,
                 fmt::format("{}: a model's configuration is an object, found {}", file,
                             json_kind(document))};
  }
  JsonFields root(object, file);
  return read_shape(root);
}

Result<ModelShape> read_model_shape(const std::string& path) {
  const std::string file = config_path(path);
  const Result<std::string> text = read_small(file);
  if (!text) return text.error();
  return parse_model_shape(text.value(), file);
}

Result<PixelLimits> read_pixel_limits(const std::string& path, const ModelShape& shape) {
  PixelLimits limits;
  if (begins(shape.model_type, "qwen3_vl")) limits = {.least = 65536, .most = 16777216};
  const std::string file =
      (std::filesystem::path(config_path(path)).parent_path() / "preprocessor_config.json")
          .string();
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return limits;
  const Result<std::string> text = read_small(file);
  if (!text) return text.error();
  dom::parser parser;
  dom::object object;
  if (parser.parse(text.value()).get_object().get(object) != simdjson::SUCCESS) {
    return Error{Error::Kind::bad_input, file + ": a JSON object is expected"};
  }
  JsonFields root(object, file);
  if (std::optional<JsonFields> size = root.inner("size")) {
    limits.least = size->size_or({"shortest_edge"}, kMostPixels, limits.least);
    limits.most = size->size_or({"longest_edge"}, kMostPixels, limits.most);
    root.take_error(*size);
  }
  limits.least = root.size_or({"min_pixels"}, kMostPixels, limits.least);
  limits.most = root.size_or({"max_pixels"}, kMostPixels, limits.most);
  limits.is_read = true;
  if (!root.ok()) return root.error();
  return limits;
}

}  // namespace plateau
