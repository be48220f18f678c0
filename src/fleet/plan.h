// SPDX-License-Identifier: Apache-2.0
// Who is there, cut into pieces that a database answers readily.
//
// One query for ten thousand series costs the server a gigabyte and the client two hundred
// megabytes of JSON. So the label sets are asked for first, which costs the index only, and are
// dealt out by the values of the label that tells most of them apart. That label is part of what
// makes a series the thing it is, so whatever is told twice falls into the same shard.
#pragma once

#include <string>
#include <vector>

#include "fleet/preset.h"
#include "fleet/query_answer.h"

namespace plateau::fleet {

struct Shard {
  std::string label;                // Splits by this one; empty: cannot be split.
  std::vector<std::string> values;  // Its values.
  std::vector<size_t> counts;       // Series of each.
  std::string matchers;             // Besides, those of a shard that was split by another label.

  [[nodiscard]] size_t series() const;
  // What selects it, to be put beside the preset's own matchers; empty for all.
  [[nodiscard]] std::string text() const;
};

// How many series one shard may have, at least 1.
std::vector<Shard> deal(const std::vector<RawSeries>& all, const Preset& preset,
                        size_t most_series);

// Two shards of about half its series. Requires: at least two values.
std::pair<Shard, Shard> halves(const Shard& shard);

}  // namespace plateau::fleet
