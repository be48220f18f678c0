// SPDX-License-Identifier: Apache-2.0
#include "prove/blocks.h"

#include <algorithm>
#include <optional>

namespace plateau {
namespace {

constexpr size_t kWidestFloor = 3;
constexpr int64_t kFewestSteps = 3;  // Between the first and the last state that count.

bool measured(const ProveState& state) {
  return state.size > 0 &&
         (state.kind == 'N' || state.kind == 'R' || state.kind == 'A' || state.kind == 'B');
}

const ProveState& lowest(std::span<const ProveState> states) {
  return *std::min_element(states.begin(), states.end(),
                           [](const auto& a, const auto& b) { return a.mb < b.mb; });
}

// `states` are those of one block, with the last one before it.
std::optional<BatchBlock> block_of(std::span<const ProveState> states, const ProveDesign& design) {
  const int64_t begin_at = states.back().at - states.back().place;
  std::vector<ProveState> counted;
  for (const ProveState& state : states) {
    const int64_t place = state.at - begin_at;
    if (place >= design.lag && place <= states.back().size - design.ahead) counted.push_back(state);
  }
  if (counted.empty() || counted.back().at - counted.front().at < kFewestSteps) return std::nullopt;
  const size_t width = std::clamp<size_t>(counted.size() / 4, 1, kWidestFloor);
  const std::span all(counted);
  const std::span first = all.first(width);
  const std::span last = all.last(width);
  BatchBlock block;
  block.kind = states.back().kind;
  block.number = states.back().block;
  block.first_at = first.front().at;
  block.last_at = last.back().at;
  block.first_mb = lowest(first).mb;
  block.last_mb = lowest(last).mb;
  // A straight climb has its floors at the first state of either end.
  block.steps = static_cast<double>(last.front().at - first.front().at);
  block.mb_per_step = (block.last_mb - block.first_mb) / block.steps;
  return block;
}

}  // namespace

std::vector<BatchBlock> blocks_of(std::span<const ProveState> states, const ProveDesign& design) {
  std::vector<BatchBlock> blocks;
  size_t begin = 0;
  while (begin < states.size()) {
    size_t end = begin + 1;
    while (end < states.size() && states[end].block == states[begin].block &&
           states[end].kind == states[begin].kind) {
      ++end;
    }
    const bool whole = end < states.size() || states[end - 1].place == states[end - 1].size;
    if (measured(states[begin]) && whole) {
      const size_t from = begin > 0 ? begin - 1 : begin;
      if (const auto block = block_of(states.subspan(from, end - from), design)) {
        blocks.push_back(*block);
      }
    }
    begin = end;
  }
  return blocks;
}

}  // namespace plateau
