// SPDX-License-Identifier: Apache-2.0
// Whether a torch tensor carries a graph (grad_fn), told from outside.
//
// Question. A list of losses that keeps their graphs alive is the commonest leak of a training
// loop; without graphs it is a few bytes a step. Python's side of a tensor does not tell: grad_fn
// is in a C++ structure whose layout differs between builds and has no version.
//
// Method. The structure is told by its content, not by its place: behind a first pointer (to the
// functions of its class) it begins with a name, which is an empty std::string, and such a string
// points to its own buffer 16 bytes on. No other structure behind a tensor looks so. Where it was
// found once, in this process, a null pointer at the same place of another tensor means that it
// has no graph.
//
// Worked case (torch 2.13): tensor + 16 → TensorImpl, + 24 → AutogradMeta at 0x5000: the words at
// 0x5008, 0x5010 are 0x5018, 0; grad_fn is the word at 0x5030.
//
// Blind spot: builds with the older std::string (the wheels of torch before 2.6), tensors with a
// name, and tensors made by subclasses in C++. Of those nothing is said.
#pragma once

#include <cstdint>
#include <optional>

#include "census/memory_reader.h"

namespace plateau {

// Announces what is read of the tensor at `address`; the process stands still.
void expect_tensor(MemoryReader& memory, uint64_t address);

class TensorGraphs {
 public:
  explicit TensorGraphs(MemoryReader& memory) : memory_(memory) {}

  // Whether the tensor at `address` has a grad_fn; nullopt if that cannot be told. Learns the
  // layout from the first one that has.
  std::optional<bool> has_graph(uint64_t address);

 private:
  struct Places {
    uint64_t impl = 0;
    uint64_t meta = 0;
  };
  uint64_t word(uint64_t address);
  bool is_meta(uint64_t address);

  MemoryReader& memory_;
  std::optional<Places> known_;
};

}  // namespace plateau
