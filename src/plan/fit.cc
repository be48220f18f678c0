// SPDX-License-Identifier: Apache-2.0
// What to change to fit, in the order of what it costs: first what changes nothing but speed, then
// what lowers precision, then what trains fewer weights, last what sees less data.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "plan/memory_plan.h"

namespace plateau {
namespace {

struct Step {
  std::string what;
  std::string cost;
  std::function<bool(TrainingSetup&)> apply;  // False: it is so already, or cannot be.
};

bool on_gpu(const TrainingSetup& setup) {
  return setup.device == TrainingDevice::cuda;
}

bool set_attention(TrainingSetup& setup) {
  if (setup.attention != AttentionKind::eager) return false;
  setup.attention = AttentionKind::sdpa;
  return true;
}

bool set_checkpointing(TrainingSetup& setup) {
  if (setup.checkpointing != Checkpointing::off) return false;
  setup.checkpointing =
      setup.stack == TrainingStack::unsloth ? Checkpointing::offload : Checkpointing::on;
  return true;
}

bool set_shards(TrainingSetup& setup, ShardingKind kind) {
  if (setup.ranks <= 1 || setup.sharding == ShardingKind::fsdp || setup.sharding >= kind)
    return false;
  setup.sharding = kind;
  return true;
}

bool set_8bit(TrainingSetup& setup) {
  if (!on_gpu(setup) || setup.sharding != ShardingKind::none) return false;
  if (setup.optimizer == OptimizerKind::adamw) {
    setup.optimizer = OptimizerKind::adamw_8bit;
  } else if (setup.optimizer == OptimizerKind::paged_adamw) {
    setup.optimizer = OptimizerKind::paged_adamw_8bit;
  } else {
    return false;
  }
  return true;
}

bool set_paged(TrainingSetup& setup) {
  if (!on_gpu(setup) || setup.optimizer != OptimizerKind::adamw_8bit) return false;
  setup.optimizer = OptimizerKind::paged_adamw_8bit;
  return true;
}

bool set_bf16(TrainingSetup& setup) {
  if (setup.dtype != Precision::fp32 || setup.method == TrainingMethod::qlora) return false;
  setup.dtype = Precision::bf16;
  return true;
}

bool set_lora(TrainingSetup& setup) {
  if (setup.method != TrainingMethod::full) return false;
  setup.method = TrainingMethod::lora;
  return true;
}

bool set_qlora(TrainingSetup& setup) {
  if (!on_gpu(setup) || setup.method == TrainingMethod::qlora) return false;
  if (setup.sharding == ShardingKind::zero3 || setup.sharding == ShardingKind::fsdp) return false;
  setup.method = TrainingMethod::qlora;
  if (setup.dtype == Precision::fp32) setup.dtype = Precision::bf16;
  return true;
}

bool freeze_vision(TrainingSetup& setup) {
  if (setup.freezes_vision || setup.patches == 0) return false;
  setup.freezes_vision = true;
  return true;
}

bool fewer_tokens(TrainingSetup& setup) {
  if (setup.tokens <= 512 || setup.tokens / 2 <= setup.patches) return false;
  setup.tokens /= 2;
  return true;
}

bool map_dataset(TrainingSetup& setup) {
  if (setup.dataset == DatasetPlace::mapped) return false;
  setup.dataset = DatasetPlace::mapped;
  return true;
}

std::vector<Step> host_steps() {
  return {{"open pictures in __getitem__, keep the dataset mapped (datasets' Arrow files)",
           "nothing", map_dataset},
          {"dataloader_num_workers=2, dataloader_prefetch_factor=1", "slower loading",
           [](TrainingSetup& setup) {
             if (setup.workers <= 2 && setup.prefetch <= 1) return false;
             setup.workers = std::min<int64_t>(setup.workers, 2);
             setup.prefetch = 1;
             return true;
           }}};
}

std::vector<Step> step_list(const TrainingSetup& setup) {
  std::vector<Step> steps;
  if (!on_gpu(setup)) steps = host_steps();
  steps.push_back({"attn_implementation=\"sdpa\"", "nothing", set_attention});
  steps.push_back({setup.stack == TrainingStack::unsloth ? "use_gradient_checkpointing=\"unsloth\""
                                                         : "gradient_checkpointing=True",
                   "about a third more time", set_checkpointing});
  if (setup.batch > 1) {
    steps.push_back({fmt::format("per_device_train_batch_size=1, gradient_accumulation_steps={}",
                                 setup.accumulation * setup.batch),
                     "slower: the same batch in more passes", [](TrainingSetup& changed) {
                       if (changed.batch <= 1) return false;
                       changed.accumulation *= changed.batch;
                       changed.batch = 1;
                       return true;
                     }});
  }
  steps.push_back({"deepspeed ZeRO stage 2", "traffic between ranks", [](TrainingSetup& changed) {
                     return set_shards(changed, ShardingKind::zero2);
                   }});
  steps.push_back(
      {"deepspeed ZeRO stage 3", "more traffic between ranks",
       [](TrainingSetup& changed) { return set_shards(changed, ShardingKind::zero3); }});
  steps.push_back({"optim=\"adamw_8bit\"", "states in 8 bits", set_8bit});
  steps.push_back(
      {"optim=\"paged_adamw_8bit\"", "states cross the bus when the GPU is full", set_paged});
  steps.push_back({"dtype=torch.bfloat16", "weights in 16 bits", set_bf16});
  steps.push_back({"freeze the vision tower", "it learns nothing", freeze_vision});
  steps.push_back(
      {fmt::format("LoRA of rank {}", setup.rank), "the base learns nothing", set_lora});
  steps.push_back({"QLoRA: load_in_4bit=True", "the base in 4 bits", set_qlora});
  for (int i = 0; i < 4; ++i) {
    steps.push_back({"max_length", "long examples are cut", fewer_tokens});
  }
  return steps;
}

}  // namespace

std::vector<MemoryChange> changes_to_fit(const PlannedModel& model, TrainingSetup setup,
                                         double limit) {
  // A change that frees less than a hundredth is not worth its cost.
  constexpr double kWorth = 0.99;
  std::vector<MemoryChange> changes;
  double peak = limited_peak(make_memory_plan(model, setup));
  for (const Step& step : step_list(setup)) {
    if (peak <= limit) break;
    TrainingSetup changed = setup;
    if (!step.apply(changed)) continue;
    const double after = limited_peak(make_memory_plan(model, changed));
    if (after > kWorth * peak) continue;
    std::string what = step.what;
    if (what == "max_length") what = fmt::format("max_length={}", changed.tokens);
    changes.push_back({std::move(what), step.cost, after});
    setup = changed;
    peak = after;
  }
  return changes;
}

}  // namespace plateau
