// SPDX-License-Identifier: Apache-2.0
// A plan as one JSON object: docs/formats/plan.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/memory_plan.h"

namespace plateau {

// Words of the command line for each choice; also those of the JSON.
const char* word_of(TrainingStack stack);
const char* word_of(TrainingDevice device);
const char* word_of(TrainingMethod method);
const char* word_of(OptimizerKind optimizer);
const char* word_of(AttentionKind attention);
const char* word_of(Precision precision);
const char* word_of(ShardingKind sharding);
const char* word_of(Checkpointing checkpointing);
const char* word_of(DatasetPlace place);

std::string plan_json(const PlannedModel& model, const TrainingSetup& setup, const MemoryPlan& plan,
                      std::optional<double> limit, const std::vector<MemoryChange>& changes);

}  // namespace plateau
