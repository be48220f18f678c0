// SPDX-License-Identifier: Apache-2.0
// Whether a torch tensor carries a graph (grad_fn) and how deep that is, told from outside.
//
// Question. A list of losses that keeps their graphs alive is the commonest leak of a training
// loop; without graphs it is a few bytes a step. One tensor to which every step adds, `total +=
// loss`, is the next: no container grows, the graph behind it does. Python's side of a tensor does
// not tell: grad_fn is in a C++ structure whose layout differs between builds and has no version.
//
// Method. The structure is told by its content, not by its place: behind a first pointer (to the
// functions of its class) it begins with a name, which is an empty std::string, and such a string
// points to its own buffer 16 bytes on. No other structure behind a tensor looks so. Where it was
// found once, in this process, a null pointer at the same place of another tensor means that it
// has no graph.
//
// The depth needs no walk: each node of the graph carries the length of the longest way from it to
// a leaf, which torch counts up when the node is linked (its "topological number"). It is believed
// only where it agrees with the node's own edges: the deepest of what it leads to is one less. Two
// layouts are known, that of nodes that are counted in place (2.13) and that of shared_ptr
// (before), in which the second word points to the node itself.
//
// Worked case (torch 2.13): tensor + 16 → TensorImpl, + 24 → AutogradMeta at 0x5000: the words at
// 0x5008, 0x5010 are 0x5018, 0; grad_fn is the word at 0x5030. The node there has 3 at + 24, and at
// + 88 a vector with one edge, to a node with 2: `model(x).pow(2).mean()` is 3 operations deep.
//
// Blind spot: builds with the older std::string (the wheels of torch before 2.6), tensors with a
// name, and tensors made by subclasses in C++. Of those nothing is said. Nor is it known how much
// memory a graph holds: backward() frees what its nodes had saved, and leaves the nodes.
#pragma once

#include <cstdint>
#include <optional>

#include "census/memory_reader.h"

namespace plateau {

struct TensorGraph {
  bool has_grad_fn = false;
  // Operations on the longest way back to a leaf; 0 without a graph, nullopt if not known.
  std::optional<uint64_t> depth;
};

// Announces what is read of the tensor at `address`; the process stands still.
void expect_tensor(MemoryReader& memory, uint64_t address);

class TensorGraphs {
 public:
  explicit TensorGraphs(MemoryReader& memory) : memory_(memory) {}

  // Of the tensor at `address`; nullopt if nothing can be told. Learns the layout from the first
  // one that has a graph.
  std::optional<TensorGraph> look(uint64_t address);

 private:
  struct Places {
    uint64_t impl = 0;
    uint64_t meta = 0;
  };

  MemoryReader& memory_;
  std::optional<Places> known_;
};

}  // namespace plateau
