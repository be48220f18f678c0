// SPDX-License-Identifier: Apache-2.0
#include "plan/activations.h"

#include <algorithm>

#include "plan/weights.h"

namespace plateau {
namespace {

// Rows of logits at a time of TRL's loss and of Unsloth's, which are counted alike.
constexpr double kChunkRows = 256;
constexpr double kSingle = 4;  // Bytes of a 32-bit value.

// Which projections of a tower have adapters.
struct Adapters {
  double after_norm = 0;  // Of those fed by the first norm: q, k, v, or qkv.
  bool on_output = false;
  double in_mlp = 0;  // Of those fed by the second norm: gate and up, or fc1.
  bool on_down = false;
  double total = 0;
};

bool named(const TrainingSetup& setup, std::initializer_list<const char*> names) {
  return std::ranges::any_of(
      names, [&](const char* name) { return is_target({.name = name}, setup.targets); });
}

Adapters adapters_of(const TowerShape& tower, bool is_vision, const TrainingSetup& setup) {
  Adapters out;
  if (setup.method == TrainingMethod::full || (is_vision && setup.freezes_vision)) return out;
  const auto count = [&](const char* name) { return named(setup, {name}) ? 1.0 : 0.0; };
  out.after_norm = tower.fuses_qkv      ? count("qkv")
                   : tower.fuses_inputs ? count("qkv_proj")
                                        : count("q_proj") + count("k_proj") + count("v_proj");
  out.on_output = named(setup, {tower.fuses_qkv ? "proj" : is_vision ? "out_proj" : "o_proj"});
  if (tower.is_gated) {
    out.in_mlp = tower.fuses_inputs ? count("gate_up_proj") : count("gate_proj") + count("up_proj");
    out.on_down = named(setup, {"down_proj"});
  } else {
    out.in_mlp = count(tower.fuses_qkv ? "linear_fc1" : "fc1");
    out.on_down = named(setup, {tower.fuses_qkv ? "linear_fc2" : "fc2"});
  }
  out.total = out.after_norm + out.in_mlp + (out.on_output ? 1 : 0) + (out.on_down ? 1 : 0);
  return out;
}

// Bytes of a value: between layers, and in products.
struct Widths {
  double stream = 0;
  double compute = 0;
};

Widths widths_of(const TrainingSetup& setup) {
  const double stored = bytes_of(setup.dtype);
  if (setup.method == TrainingMethod::qlora) return {stored, std::min(stored, 2.0)};
  return {stored, setup.has_autocast ? 2 : stored};
}

double norm_bytes(const ModelShape& shape, const TowerShape& tower, double values, bool learns,
                  double stream) {
  if (tower.is_layer_norm) return stream * values + 2 * kSingle;
  // The input in 32 bits and its scale; the normed values for the gradient of the norm's weight.
  double bytes = kSingle * values;
  if (learns) bytes += (shape.is_gemma_norm ? kSingle : stream) * values;
  return bytes;
}

double attention_bytes(const TowerShape& tower, AttentionKind kind, double width, double row) {
  const auto queries = static_cast<double>(tower.query_values());
  const auto keys = static_cast<double>(tower.key_values());
  const auto heads = static_cast<double>(tower.heads);
  // Queries, keys, values, the result, and the sums of its softmax.
  if (kind != AttentionKind::eager) return width * (2 * queries + 2 * keys) + kSingle * heads;
  // Keys and values are repeated for every head; the softmax is kept in 32 bits, and its cast.
  double scores = kSingle + (width < kSingle ? width : 0);
  if (tower.softcaps_scores) scores += width;
  return width * 4 * queries + scores * heads * row;
}

// Inputs of linear layers, kept for the gradients of their weights or of their adapters'.
double linear_inputs(const TowerShape& tower, const TrainingSetup& setup, const Adapters& adapters,
                     const Widths& widths) {
  const auto hidden = static_cast<double>(tower.hidden);
  const auto inner = static_cast<double>(tower.inner) *
                     static_cast<double>(std::max<int64_t>(1, tower.experts_used));
  const auto queries = static_cast<double>(tower.query_values());
  const double mlp_inputs = tower.is_gated && !tower.fuses_inputs ? 2 : 1;
  if (setup.method == TrainingMethod::full) {
    // Autocast makes a copy for each product; the result of attention is kept by attention.
    const bool copies = widths.compute < widths.stream;
    const double first = copies ? (tower.fuses_qkv || tower.fuses_inputs ? 1 : 3) : 1;
    const double second = copies ? mlp_inputs : 1;
    return widths.compute * ((first + second) * hidden + inner);
  }
  const auto rank = static_cast<double>(setup.rank);
  if (widths.stream == kSingle && !setup.has_autocast) {
    return kSingle * ((adapters.after_norm > 0 ? hidden : 0) + (adapters.in_mlp > 0 ? hidden : 0) +
                      (adapters.on_down ? inner : 0) + adapters.total * rank);
  }
  // Adapters are in 32 bits: each widens its own copy of the input, which autocast narrows again.
  const double copy = setup.has_autocast ? 2 : kSingle;
  return copy *
         ((adapters.after_norm + adapters.in_mlp) * hidden + (adapters.on_output ? queries : 0) +
          (adapters.on_down ? inner : 0) + adapters.total * rank);
}

}  // namespace

bool trains_vision(const ModelShape& shape, const TrainingSetup& setup) {
  if (!shape.vision || setup.freezes_vision) return false;
  if (setup.method == TrainingMethod::full) return true;
  return adapters_of(shape.vision->tower, true, setup).total > 0;
}

LayerBytes layer_bytes(const ModelShape& shape, const TowerShape& tower, bool is_vision,
                       const TrainingSetup& setup, double row) {
  const Widths widths = widths_of(setup);
  const Adapters adapters = adapters_of(tower, is_vision, setup);
  const bool learns = setup.method == TrainingMethod::full;
  const auto hidden = static_cast<double>(tower.hidden);
  const auto inner = static_cast<double>(tower.inner) *
                     static_cast<double>(std::max<int64_t>(1, tower.experts_used));
  LayerBytes out;
  out.input = widths.stream * hidden;
  out.kept = static_cast<double>(tower.norms) *
             (norm_bytes(shape, tower, hidden, learns, widths.stream) + kSingle);
  if (tower.has_qk_norm) {
    const auto normed = static_cast<double>(tower.query_values() + tower.key_values());
    out.kept += norm_bytes(shape, tower, normed, learns, widths.stream) +
                kSingle * static_cast<double>(tower.heads + tower.kv_heads);
  }
  out.kept += attention_bytes(tower, setup.attention, widths.compute, row);
  // Gate, its activation and up; or the one before the activation. The product is an input.
  out.kept += (tower.is_gated ? 3 : 1) * widths.compute * inner;
  out.kept += linear_inputs(tower, setup, adapters, widths);
  out.working = widths.compute * (2 * hidden + 2 * inner);
  if (is_vision && !trains_vision(shape, setup)) out = {.working = out.working};
  return out;
}

double logit_bytes(const ModelShape& shape) {
  // In 32 bits: the log-probabilities, the gradient of the loss, and that of the logits; a capped
  // head keeps its tanh too.
  return 3 * kSingle + (shape.softcaps_logits ? kSingle : 0);
}

double logit_rows(const TrainingSetup& setup) {
  const double rows = static_cast<double>(setup.batch) * static_cast<double>(setup.tokens);
  return setup.stack == TrainingStack::transformers ? rows : std::min(rows, kChunkRows);
}

}  // namespace plateau
