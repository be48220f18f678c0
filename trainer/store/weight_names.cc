// SPDX-License-Identifier: Apache-2.0
#include "trainer/store/weight_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <span>

#include "trainer/store/nf4_tensors.h"

namespace plateau::train {
namespace {

constexpr std::string_view kModel = "model.";
constexpr std::string_view kVisual = "visual.";
constexpr std::string_view kLanguageModel = "model.language_model.";
constexpr std::string_view kModelVisual = "model.visual.";
constexpr std::string_view kHead = "lm_head.weight";
constexpr std::string_view kEmbedding = "model.embed_tokens.weight";
constexpr size_t kNamedInErrors = 3;

using Shapes = std::vector<WeightShape>;

void add_linear(Shapes& shapes, const std::string& name, int64_t out, int64_t in, bool bias) {
  shapes.push_back({name + ".weight", {out, in}});
  if (bias) shapes.push_back({name + ".bias", {out}});
}

void add_vision(Shapes& shapes, const VisionConfig& vision) {
  const int64_t width = vision.hidden_size;
  shapes.push_back({"visual.patch_embed.proj.weight",
                    {width, vision.in_channels, vision.temporal_patch_size, vision.patch_size,
                     vision.patch_size}});
  for (int64_t i = 0; i < vision.depth; ++i) {
    const std::string block = fmt::format("visual.blocks.{}.", i);
    shapes.push_back({block + "norm1.weight", {width}});
    add_linear(shapes, block + "attn.qkv", 3 * width, width, true);
    add_linear(shapes, block + "attn.proj", width, width, true);
    shapes.push_back({block + "norm2.weight", {width}});
    add_linear(shapes, block + "mlp.gate_proj", vision.intermediate_size, width, true);
    add_linear(shapes, block + "mlp.up_proj", vision.intermediate_size, width, true);
    add_linear(shapes, block + "mlp.down_proj", width, vision.intermediate_size, true);
  }
  const int64_t merged = width * vision.merge_size * vision.merge_size;
  shapes.push_back({"visual.merger.ln_q.weight", {width}});
  add_linear(shapes, "visual.merger.mlp.0", merged, merged, true);
  add_linear(shapes, "visual.merger.mlp.2", vision.out_hidden_size, merged, true);
}

void add_layer(Shapes& shapes, const ModelConfig& config, int64_t number) {
  const std::string layer = fmt::format("model.layers.{}.", number);
  const int64_t width = config.hidden_size;
  const int64_t kv_width = config.kv_heads * config.head_dim();
  shapes.push_back({layer + "input_layernorm.weight", {width}});
  add_linear(shapes, layer + "self_attn.q_proj", width, width, true);
  add_linear(shapes, layer + "self_attn.k_proj", kv_width, width, true);
  add_linear(shapes, layer + "self_attn.v_proj", kv_width, width, true);
  add_linear(shapes, layer + "self_attn.o_proj", width, width, false);
  shapes.push_back({layer + "post_attention_layernorm.weight", {width}});
  add_linear(shapes, layer + "mlp.gate_proj", config.intermediate_size, width, false);
  add_linear(shapes, layer + "mlp.up_proj", config.intermediate_size, width, false);
  add_linear(shapes, layer + "mlp.down_proj", width, config.intermediate_size, false);
}

const TensorView* find_either(const WeightFiles& files, std::string_view name) {
  const TensorView* found = files.find(name);
  return found != nullptr ? found : files.find(nested_name(name));
}

bool may_be_left_over(const ModelConfig& config, std::string_view hub) {
  return hub.ends_with(".rotary_emb.inv_freq") || hub.ends_with(".rotary_pos_emb.inv_freq") ||
         (config.tie_word_embeddings && hub == kHead);
}

std::string first_few(const std::vector<std::string>& names) {
  const size_t shown = std::min(names.size(), kNamedInErrors);
  std::string text = fmt::format("{}", fmt::join(std::span(names).first(shown), ", "));
  if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

std::string shape_fault(std::string_view name, const std::vector<int64_t>& found,
                        const std::vector<int64_t>& expected) {
  if (found == expected) return "";
  return fmt::format("{} is [{}], expected [{}]", name, fmt::join(found, ", "),
                     fmt::join(expected, ", "));
}

// What is wrong with a tensor that is there: its shape or its type. Empty: nothing.
std::string fault_of(const WeightFiles& files, const TensorView& tensor,
                     const WeightShape& expected) {
  if (is_nf4(files, tensor.name)) {
    const Result<std::vector<int64_t>> shape = nf4_shape(files, tensor.name);
    if (!shape.ok()) return shape.error().message;
    return shape_fault(tensor.name, shape.value(), expected.shape);
  }
  std::string fault = shape_fault(tensor.name, tensor.shape, expected.shape);
  if (!fault.empty()) return fault;
  if (tensor.dtype != DType::f32 && tensor.dtype != DType::bf16 && tensor.dtype != DType::f16) {
    return fmt::format("{} is {}, expected F32, BF16 or F16", tensor.name, name_of(tensor.dtype));
  }
  return "";
}

}  // namespace

std::vector<WeightShape> weight_shapes(const ModelConfig& config) {
  Shapes shapes;
  shapes.push_back({std::string(kEmbedding), {config.vocab_size, config.hidden_size}});
  add_vision(shapes, config.vision);
  for (int64_t i = 0; i < config.layers; ++i) add_layer(shapes, config, i);
  shapes.push_back({"model.norm.weight", {config.hidden_size}});
  if (!config.tie_word_embeddings) {
    shapes.push_back({std::string(kHead), {config.vocab_size, config.hidden_size}});
  }
  return shapes;
}

std::string hub_name(std::string_view name) {
  if (name.starts_with(kLanguageModel)) {
    return std::string(kModel) + std::string(name.substr(kLanguageModel.size()));
  }
  if (name.starts_with(kModelVisual)) {
    return std::string(kVisual) + std::string(name.substr(kModelVisual.size()));
  }
  return std::string(name);
}

std::string nested_name(std::string_view hub_name) {
  if (hub_name.starts_with(kLanguageModel) || hub_name.starts_with(kModelVisual)) {
    return std::string(hub_name);
  }
  if (hub_name.starts_with(kVisual)) return std::string(kModel) + std::string(hub_name);
  if (hub_name.starts_with(kModel)) {
    return std::string(kLanguageModel) + std::string(hub_name.substr(kModel.size()));
  }
  return std::string(hub_name);
}

Result<std::monostate> check_weights(const ModelConfig& config, const WeightFiles& files) {
  const std::string where = files.files().size() == 1
                                ? files.files().front().path().string()
                                : files.files().front().path().parent_path().string();
  const auto bad = [&](std::string_view what) {
    return Error{Error::Kind::bad_input, fmt::format("{}: {}", where, what)};
  };
  std::vector<std::string> missing;
  std::set<std::string, std::less<>> expected;
  for (const WeightShape& shape : weight_shapes(config)) {
    expected.insert(shape.name);
    const TensorView* tensor = find_either(files, shape.name);
    if (tensor == nullptr) {
      missing.push_back(shape.name);
    } else if (const std::string fault = fault_of(files, *tensor, shape); !fault.empty()) {
      return bad(fault);
    }
  }
  if (!missing.empty()) {
    return bad(fmt::format("{} weights are missing: {}", missing.size(), first_few(missing)));
  }
  std::vector<std::string> left_over;
  std::set<std::string> seen;
  for (const TensorView* tensor : files.tensors()) {
    const std::string hub = hub_name(tensor->name);
    if (!seen.insert(hub).second) {
      return bad(fmt::format("{} stands there twice, under the old and the new name", hub));
    }
    if (expected.contains(hub) || may_be_left_over(config, hub)) continue;
    // What NF4 stores beside a weight belongs to the weight.
    const std::string_view owner = nf4_owner(tensor->name);
    if (owner.empty() || !expected.contains(hub_name(owner)) || !is_nf4(files, owner)) {
      left_over.push_back(tensor->name);
    }
  }
  if (!left_over.empty()) {
    return bad(fmt::format("{} tensors are not part of this model: {}", left_over.size(),
                           first_few(left_over)));
  }
  return std::monostate{};
}

const TensorView& weight(const WeightFiles& files, std::string_view hub_name) {
  return *find_either(files, hub_name);
}

}  // namespace plateau::train
