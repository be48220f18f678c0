// SPDX-License-Identifier: Apache-2.0
#include "census/deep_tensors.h"

#include <algorithm>
#include <unordered_set>

namespace plateau {
namespace {

constexpr uint64_t kLeastDeepening = 10;

// An item of a list or table is told with what it is in.
bool is_single(const Place& place) {
  if (place.label.kind == EdgeKind::item || place.label.kind == EdgeKind::key) return false;
  return place.objects == 1 && place.root == PlaceRoot::none;
}

}  // namespace

std::unordered_map<uint32_t, uint64_t> depths_by_place(const HolderGraph& graph,
                                                       const HeapWalk& walk,
                                                       const std::vector<uint64_t>& tensors,
                                                       TensorGraphs& graphs) {
  const std::unordered_set<uint64_t> looked_into(tensors.begin(), tensors.end());
  std::unordered_map<uint32_t, uint64_t> depths;
  for (const GraphNode& node : graph.nodes) {
    if (node.place == kNowhere || !walk.types[node.type].facts.tensor) continue;
    if (!looked_into.contains(node.address)) continue;
    const auto told = graphs.look(node.address);
    if (!told || !told->depth) continue;
    uint64_t& deepest = depths[node.place];
    deepest = std::max(deepest, *told->depth);
  }
  return depths;
}

void each_deepened(const HolderGraph& graph, const HeapWalk& walk,
                   const std::unordered_map<uint32_t, uint64_t>& depths, const HolderIndex& before,
                   const std::function<void(uint32_t, Holder)>& named) {
  for (const auto& [index, depth] : depths) {
    const Place& place = graph.places[index];
    const auto known = before.depths.find(place.identity);
    if (known == before.depths.end() || !is_single(place)) continue;
    const uint64_t least = std::max(known->second + kLeastDeepening, known->second * 3 / 2);
    if (depth < least || depth > static_cast<uint64_t>(INT64_MAX)) continue;
    Holder holder;
    holder.type = walk.types[graph.nodes[place.example].type].facts.name;
    holder.length_before = holder.length_after = 1;
    holder.tensors_looked_at = holder.tensors_with_graph = 1;
    holder.graph_depth_before = static_cast<int64_t>(known->second);
    holder.graph_depth = static_cast<int64_t>(depth);
    named(index, std::move(holder));
  }
}

}  // namespace plateau
