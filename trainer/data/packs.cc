// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/packs.h"

#include <algorithm>
#include <map>

#include "trainer/data/loader.h"

namespace plateau::train {

Packs make_packs(const std::vector<int64_t>& tokens, int64_t most, uint64_t seed) {
  std::vector<size_t> order = epoch_order(tokens.size(), seed, 0, true);
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return tokens[a] > tokens[b]; });
  std::vector<size_t> row_of(tokens.size());
  std::vector<size_t> sizes;                 // Examples of each row.
  std::multimap<int64_t, size_t> with_room;  // By the tokens that are left.
  for (const size_t example : order) {
    const auto tightest = with_room.lower_bound(tokens[example]);
    int64_t left = most - tokens[example];
    if (tightest == with_room.end()) {
      row_of[example] = sizes.size();
      sizes.push_back(1);
    } else {
      left = tightest->first - tokens[example];
      row_of[example] = tightest->second;
      ++sizes[tightest->second];
      with_room.erase(tightest);
    }
    with_room.emplace(std::max<int64_t>(left, 0), row_of[example]);
  }
  Packs out;
  out.bounds.assign(sizes.size() + 1, 0);
  for (size_t row = 0; row < sizes.size(); ++row) {
    out.bounds[row + 1] = out.bounds[row] + sizes[row];
  }
  out.examples.resize(tokens.size());
  std::vector<size_t> next(out.bounds.begin(), out.bounds.end() - 1);
  for (const size_t example : order) out.examples[next[row_of[example]]++] = example;
  return out;
}

}  // namespace plateau::train
