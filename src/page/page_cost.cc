// SPDX-License-Identifier: Apache-2.0
#include "page/page_numbers.h"
#include "page/page_run.h"
#include "report/cost.h"

namespace plateau {

void write_cost(JsonWriter& json, const Run& run) {
  const auto cost = [](JsonWriter& each, const WatchCost& of) {
    each.value(json_object("words", cost_sentence(of), "cpu_percent", Rounded(100 * of.cpu_share),
                           "walk_percent", Rounded(100 * of.walk_share)));
  };
  json.members("cost", json_if(recorded_cost(run), cost));
}

}  // namespace plateau
