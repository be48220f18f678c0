// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_json.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/json_writer.h"

namespace plateau {
namespace {

int64_t whole(double bytes) {
  return static_cast<int64_t>(std::clamp(std::round(bytes), 0.0, 9e18));
}

template <typename Kind, size_t N>
const char* nth(Kind kind, const std::array<const char*, N>& words) {
  return words[std::min(static_cast<size_t>(kind), N - 1)];
}

void write_side(JsonWriter& json, const MemorySide& side) {
  json.begin_object().members("peak_bytes", whole(side.peak), "resident_bytes",
                              whole(side.resident), "moment", side.moment);
  json.key("lines").begin_array();
  for (const MemoryLine& line : side.lines) {
    json.begin_object()
        .members("name", line.name, "bytes", whole(line.bytes), "in_step", line.is_in_step,
                 "formula", line.formula)
        .end_object();
  }
  json.end_array().end_object();
}

void write_setup(JsonWriter& json, const TrainingSetup& setup) {
  json.key("setup").begin_object();
  json.members("method", word_of(setup.method), "rank", setup.rank, "targets", setup.targets,
               "optimizer", word_of(setup.optimizer), "checkpointing", word_of(setup.checkpointing),
               "attention", word_of(setup.attention), "dtype", word_of(setup.dtype), "autocast",
               setup.has_autocast);
  json.members("tokens", setup.tokens, "patches", setup.patches, "batch", setup.batch,
               "accumulation", setup.accumulation, "ranks", setup.ranks, "sharding",
               word_of(setup.sharding), "workers", setup.workers, "prefetch", setup.prefetch,
               "dataset", word_of(setup.dataset), "examples", setup.examples);
  json.end_object();
}

}  // namespace

const char* word_of(TrainingStack stack) {
  return nth<TrainingStack, 3>(stack, {"transformers", "trl", "unsloth"});
}
const char* word_of(TrainingDevice device) {
  return nth<TrainingDevice, 2>(device, {"cpu", "cuda"});
}
const char* word_of(TrainingMethod method) {
  return nth<TrainingMethod, 3>(method, {"full", "lora", "qlora"});
}
const char* word_of(OptimizerKind optimizer) {
  return nth<OptimizerKind, 6>(
      optimizer, {"adamw", "adamw_8bit", "paged_adamw", "paged_adamw_8bit", "adafactor", "sgd"});
}
const char* word_of(AttentionKind attention) {
  return nth<AttentionKind, 3>(attention, {"eager", "sdpa", "flash"});
}
const char* word_of(Precision precision) {
  return nth<Precision, 3>(precision, {"fp32", "bf16", "fp16"});
}
const char* word_of(ShardingKind sharding) {
  return nth<ShardingKind, 5>(sharding, {"none", "zero1", "zero2", "zero3", "fsdp"});
}
const char* word_of(Checkpointing checkpointing) {
  return nth<Checkpointing, 3>(checkpointing, {"off", "on", "offload"});
}
const char* word_of(DatasetPlace place) {
  return nth<DatasetPlace, 3>(place, {"mapped", "memory", "decoded"});
}

std::string plan_json(const PlannedModel& model, const TrainingSetup& setup, const MemoryPlan& plan,
                      std::optional<double> limit, const std::vector<MemoryChange>& changes) {
  JsonWriter json;
  json.begin_object().members("schema", 1, "for", word_of(setup.stack), "device",
                              word_of(setup.device), "model_type", model.shape.model_type,
                              "parameters", whole(plan.parameters), "trainable",
                              whole(plan.trainable), "counted_from",
                              model.stored && !model.stored->is_packed ? "weights" : "config");
  write_setup(json, setup);
  write_side(json.key("host"), plan.host);
  json.key("gpu");
  if (plan.gpu) {
    write_side(json, *plan.gpu);
  } else {
    json.null();
  }
  json.members("notes", plan.notes, "limit_bytes",
               value_if(limit.has_value(), whole(limit.value_or(0))), "fits",
               value_if(limit.has_value(), limited_peak(plan) <= limit.value_or(0)));
  json.key("changes").begin_array();
  for (const MemoryChange& change : changes) {
    json.begin_object()
        .members("what", change.what, "cost", change.cost, "peak_bytes", whole(change.peak))
        .end_object();
  }
  return json.end_array().end_object().take() + "\n";
}

}  // namespace plateau
