// SPDX-License-Identifier: Apache-2.0
// What load the suspects of a shard were under: asked for only of them, because they are few.
//
// In this order, the first that tells: the same hours a day before; of a pod that did not exist
// then, those of its workload; the same hours a week before; the work that it did in the window, as
// CPU time or steps. Coarse curves are enough here, so these are range queries.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/database.h"
#include "fleet/judge_series.h"
#include "fleet/plan.h"

namespace plateau::fleet {

struct Question;

struct Suspect {
  std::string identity;
  std::string shard_value;  // Of the label by which the shard is dealt.
  Labels labels;
  JudgedSeries judged;
  std::optional<double> started_s;  // As its exporter tells.
  std::optional<KnownLoad> load = {};
};

void find_loads(Database& database, const Question& question, const Shard& shard,
                std::vector<Suspect>& suspects, std::vector<std::string>& troubles);

}  // namespace plateau::fleet
