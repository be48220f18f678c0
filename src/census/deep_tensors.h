// SPDX-License-Identifier: Apache-2.0
// Tensors that hold a graph which becomes deeper, though nothing that holds the tensors grows.
//
// `total += loss` and `hidden = cell(batch, hidden)` leave one tensor in one variable; each step
// hangs its operations behind those of all before. So in two looks at one process the depths of the
// graphs at each place are compared, and a place is named where they grew by half and by ten
// operations at least. A loss whose depth differs from step to step, with the length of what it was
// computed from, seldom does that; one that is summed up and reset every epoch may.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "census/holder_graph.h"
#include "census/holders.h"
#include "census/tensor_graph.h"

namespace plateau {

// The depth of the deepest graph at each place that tensors were looked into at.
std::unordered_map<uint32_t, uint64_t> depths_by_place(const HolderGraph& graph,
                                                       const HeapWalk& walk,
                                                       const std::vector<uint64_t>& tensors,
                                                       TensorGraphs& graphs);

// Places of single tensors whose graphs became deeper since: type, depths and counts are filled in,
// the name is not. `named` is called with each and its place.
void each_deepened(const HolderGraph& graph, const HeapWalk& walk,
                   const std::unordered_map<uint32_t, uint64_t>& depths, const HolderIndex& before,
                   const std::function<void(uint32_t, Holder)>& named);

}  // namespace plateau
