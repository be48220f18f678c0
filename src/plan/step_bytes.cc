// SPDX-License-Identifier: Apache-2.0
#include "plan/step_bytes.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"

namespace plateau {
namespace {

constexpr double kSingle = 4;
// NF4: half a byte a weight and a 32-bit scale for each 64; nested, that scale is one byte, and
// 32 bits for each 256 of them.
constexpr double kNf4Plain = 0.5 + 4.0 / 64;
constexpr double kNf4Nested = 0.5 + 1.0 / 64 + 4.0 / (64 * 256);
// bitsandbytes: two bytes of state a value, a 32-bit scale each for 256 values.
constexpr double kState8 = 2 * (1 + 4.0 / 256);

std::string millions(double values) {
  return fmt::format("{:.1f} M", values / 1e6);
}

class StepCount {
 public:
  StepCount(const PlannedModel& model, const TrainingSetup& setup)
      : model_(model), setup_(setup), ranks_(static_cast<double>(setup.ranks)) {}

  StepBytes make() {
    count_trainable();
    count_weights();
    count_optimizer();
    count_activations();
    count_communication();
    return out_;
  }

 private:
  [[nodiscard]] bool is_lora() const { return setup_.method != TrainingMethod::full; }

  void count_trainable() {
    const WeightCount& weights = model_.weights;
    const bool trusts_files = model_.stored && !model_.stored->is_packed;
    const double base = trusts_files ? model_.stored->parameters : weights.total;
    double matched = 0;
    for (const WeightKind& kind : weights.kinds) {
      if (is_lora()) {
        if (kind.is_vision && setup_.freezes_vision) continue;
        if (!is_target(kind, setup_.targets)) continue;
        matched += kind.count * static_cast<double>(setup_.rank) * (kind.rows + kind.columns);
      } else if (kind.is_vision && setup_.freezes_vision) {
        matched += kind.parameters();
      }
    }
    out_.trainable = is_lora() ? matched : base - matched;
    out_.parameters = base;
  }

  void count_weights() {
    const double width = bytes_of(setup_.dtype);
    double linear = 0;
    for (const WeightKind& kind : model_.weights.kinds) {
      if (kind.is_linear) linear += kind.count * kind.rows * kind.columns;
    }
    double shard = setup_.sharding == ShardingKind::zero3 || setup_.sharding == ShardingKind::fsdp
                       ? ranks_
                       : 1;
    if (setup_.method == TrainingMethod::qlora) {
      const double packed = setup_.double_quant ? kNf4Nested : kNf4Plain;
      const double rest = out_.parameters - linear;
      // peft's prepare_model_for_kbit_training() widens what is not in four bits.
      const bool widens = setup_.stack == TrainingStack::transformers;
      out_.weights = (linear * packed + rest * (widens ? kSingle : width)) / shard;
      out_.weights_formula =
          fmt::format("{} x {:.3f} bytes in NF4, {} x {:.0f} bytes", millions(linear), packed,
                      millions(rest), widens ? kSingle : width);
    } else {
      const double stored = setup_.sharding == ShardingKind::fsdp && !is_lora() ? kSingle : width;
      out_.weights = out_.parameters * stored / shard;
      out_.weights_formula = fmt::format("{} x {:.0f} bytes", millions(out_.parameters), stored);
      if (setup_.has_autocast && setup_.dtype == Precision::fp32)
        out_.autocast = linear * 2 / shard;
    }
    if (shard > 1) {
      // The layer that computes is gathered whole, and the next one ahead of it.
      const double gathered = 2 * model_.weights.layer * width;
      out_.weights += gathered;
      out_.weights_formula += fmt::format(" / {} ranks, two layers gathered", setup_.ranks);
    }
    if (is_lora()) out_.adapters = out_.trainable * kSingle;
    out_.gradient_width = is_lora() ? kSingle : width;
    const bool shards_gradients = setup_.sharding >= ShardingKind::zero2;
    out_.gradients = out_.trainable * out_.gradient_width / (shards_gradients ? ranks_ : 1);
  }

  void count_optimizer() {
    const double width = is_lora() ? kSingle : bytes_of(setup_.dtype);
    const double values = out_.trainable;
    double bytes = 0;
    switch (setup_.optimizer) {
      case OptimizerKind::adamw:
      case OptimizerKind::paged_adamw:
        bytes = 2 * width * values;
        out_.optimizer_formula =
            fmt::format("{} x 2 states x {:.0f} bytes", millions(values), width);
        break;
      case OptimizerKind::adamw_8bit:
      case OptimizerKind::paged_adamw_8bit:
        bytes = kState8 * values;
        out_.optimizer_formula = fmt::format("{} x 2 states x 1 byte and scales", millions(values));
        break;
      case OptimizerKind::adafactor:
        bytes = adafactor_states();
        out_.optimizer_formula = "a row and a column of each matrix in 32 bits";
        break;
      case OptimizerKind::sgd:
        out_.optimizer_formula = "no state without momentum";
        break;
    }
    // ZeRO and FSDP train a 32-bit copy where the weights are narrow.
    if (setup_.sharding != ShardingKind::none && setup_.sharding != ShardingKind::fsdp &&
        !is_lora() && setup_.dtype != Precision::fp32) {
      bytes = values * 3 * kSingle;
      out_.optimizer_formula =
          fmt::format("{} x (master weights and 2 states) x 4 bytes", millions(values));
    } else if (setup_.sharding == ShardingKind::fsdp && !is_lora()) {
      bytes *= kSingle / width;
    }
    if (setup_.sharding != ShardingKind::none) {
      bytes /= ranks_;
      out_.optimizer_formula += fmt::format(" / {} ranks", setup_.ranks);
    }
    const bool is_paged = setup_.optimizer == OptimizerKind::paged_adamw ||
                          setup_.optimizer == OptimizerKind::paged_adamw_8bit;
    if (is_paged && setup_.device == TrainingDevice::cuda) {
      out_.optimizer_on_host = bytes;
      out_.optimizer_formula = "paged: in host RAM when the GPU is full";
      bytes = 0;
    }
    out_.optimizer = bytes;
    count_optimizer_working();
  }

  [[nodiscard]] double adafactor_states() const {
    double bytes = 0;
    for (const WeightKind& kind : model_.weights.kinds) {
      if (is_lora()) continue;
      bytes += kSingle * kind.count * (kind.columns > 1 ? kind.rows + kind.columns : kind.rows);
    }
    return is_lora() ? out_.trainable * kSingle / 8 : bytes;
  }

  // Temporaries of the largest weight: one for AdamW's denominator, more for Adafactor's update.
  void count_optimizer_working() {
    const double largest = is_lora() ? 0 : model_.weights.largest;
    if (setup_.optimizer == OptimizerKind::adafactor) {
      out_.optimizer_working = 3 * kSingle * largest;
    } else if (setup_.device == TrainingDevice::cpu && setup_.optimizer != OptimizerKind::sgd) {
      out_.optimizer_working = bytes_of(setup_.dtype) * largest;
    }
    // bitsandbytes widens one matrix at a time.
    if (setup_.method == TrainingMethod::qlora) {
      const double matrix = static_cast<double>(model_.shape.text.hidden) *
                            static_cast<double>(model_.shape.text.inner);
      out_.optimizer_working += 2 * matrix;
    }
  }

  void count_activations() {
    const ModelShape& shape = model_.shape;
    const auto rows = static_cast<double>(setup_.batch);
    const double tokens = rows * static_cast<double>(setup_.tokens);
    const double patches = rows * static_cast<double>(setup_.patches);
    out_.layer = layer_bytes(shape, shape.text, false, setup_, static_cast<double>(setup_.tokens));
    LayerBytes vision;
    double vision_layers = 0;
    if (shape.vision) {
      const double pictures = static_cast<double>(std::max<int64_t>(1, setup_.pictures));
      vision = layer_bytes(shape, shape.vision->tower, true, setup_,
                           static_cast<double>(setup_.patches) / pictures);
      vision_layers = static_cast<double>(shape.vision->tower.layers);
    }
    const auto layers = static_cast<double>(shape.text.layers);
    const bool checkpoints = setup_.checkpointing != Checkpointing::off;
    const double in_text = layers * tokens * (checkpoints ? out_.layer.input : out_.layer.kept);
    out_.vision_activations = vision_layers * patches * (checkpoints ? vision.input : vision.kept);
    out_.one_layer = checkpoints ? std::max(tokens * out_.layer.kept, patches * vision.kept) : 0;
    out_.working = std::max(tokens * out_.layer.working, patches * vision.working);
    out_.activations = in_text + out_.vision_activations;
    if (setup_.checkpointing == Checkpointing::offload) {
      out_.offloaded = out_.activations;
      out_.activations = 0;
      out_.vision_activations = 0;
    }
    count_adapter_outputs(tokens, patches);
    // The last norm, and the head's input.
    out_.activations += tokens * 3 * out_.layer.input;
    const auto vocabulary = static_cast<double>(shape.vocabulary);
    out_.logits = logit_rows(setup_) * vocabulary * logit_bytes(shape);
  }

  // The result of the base, that of the adapter and its scaled copy are gone once they are added.
  void count_adapter_outputs(double tokens, double patches) {
    if (!is_lora()) return;
    const double layers = static_cast<double>(model_.shape.text.layers);
    for (const WeightKind& kind : model_.weights.kinds) {
      if (!is_target(kind, setup_.targets) || (kind.is_vision && setup_.freezes_vision)) continue;
      const double deep = std::min(kind.count, layers);
      out_.adapter_outputs +=
          kind.rows * deep * bytes_of(setup_.dtype) * (kind.is_vision ? patches : tokens);
    }
  }

  void count_communication() {
    if (setup_.ranks <= 1) return;
    if (setup_.sharding == ShardingKind::none) {
      out_.buckets = out_.trainable * out_.gradient_width;
      out_.buckets_formula = "DDP's buckets: a second copy of all gradients";
    } else if (setup_.sharding != ShardingKind::fsdp) {
      // DeepSpeed's reduce and gather buckets of 500 million values, at most the model's.
      const double values = std::min(out_.trainable, 5e8);
      out_.buckets = 2 * values * bytes_of(setup_.dtype);
      out_.buckets_formula = "DeepSpeed's two buckets, 500 M values each at most";
    }
  }

  const PlannedModel& model_;
  const TrainingSetup& setup_;
  double ranks_;
  StepBytes out_;
};

}  // namespace

StepBytes count_step(const PlannedModel& model, const TrainingSetup& setup) {
  return StepCount(model, setup).make();
}

}  // namespace plateau
