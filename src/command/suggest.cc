// SPDX-License-Identifier: Apache-2.0
#include "command/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace plateau {

size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the usual table: the swap of neighbours looks back two.
  std::vector<size_t> before(b.size() + 1);
  std::vector<size_t> above(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitute = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, substitute});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  const size_t allowed = std::max<size_t>(1, word.size() / 3);
  const std::string* best = nullptr;
  size_t best_distance = allowed + 1;
  for (const std::string& candidate : candidates) {
    size_t distance = edit_distance(word, candidate);
    if (word.size() >= 2 && candidate.starts_with(word)) distance = std::min(distance, allowed);
    if (distance < best_distance) {
      best = &candidate;
      best_distance = distance;
    }
  }
  return best == nullptr ? "" : fmt::format(" (did you mean '{}'?)", *best);
}

}  // namespace plateau
