// SPDX-License-Identifier: Apache-2.0
#include "page/page_numbers.h"
#include "page/page_run.h"
#include "report/cost.h"

namespace plateau {

void write_cost(JsonWriter& json, const Run& run) {
  json.key("cost");
  const std::optional<WatchCost> cost = recorded_cost(run);
  if (!cost) {
    json.null();
    return;
  }
  json.begin_object().key("words").value(cost_sentence(*cost)).key("cpu_percent");
  write_rounded(json, 100 * cost->cpu_share);
  json.key("walk_percent");
  write_rounded(json, 100 * cost->walk_share);
  json.end_object();
}

}  // namespace plateau
