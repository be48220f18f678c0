// SPDX-License-Identifier: Apache-2.0
#include "words/site_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "words/finding_table.h"

namespace plateau {

std::string site_words(const SiteVerdict& verdict) {
  return plain(tell(verdict.why, Telling{.clock = verdict.clock,
                                         .explanations = verdict.explanations,
                                         .counts = verdict.unit == SeriesUnit::count}));
}

std::string loss_direction(uint64_t allocs, uint64_t frees) {
  if (allocs == 0) return frees == 0 ? "" : "high";
  return frees == 0 ? "low" : "either";
}

std::string loss_words(uint64_t allocs, uint64_t frees, double recorded_blocks) {
  const std::string direction = loss_direction(allocs, frees);
  if (direction.empty()) return "";
  const auto lost = static_cast<double>(allocs);
  const std::string share = allocs == 0
                                ? fmt::format("{} frees", format_count(static_cast<int64_t>(frees)))
                                : fmt::format("{:.2g} % of the blocks",
                                              100 * lost / std::max(1.0, lost + recorded_blocks));
  const std::string_view way = direction == "low"    ? "too low"
                               : direction == "high" ? "too high"
                                                     : "too low or too high";
  return fmt::format("INCOMPLETE: {} could not be recorded, figures are {}", share, way);
}

}  // namespace plateau
