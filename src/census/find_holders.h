// SPDX-License-Identifier: Apache-2.0
// From a walk over the heap to the containers that hold most, or grew most.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "census/heap_walk.h"
#include "census/holder_lines.h"
#include "census/holders.h"
#include "census/memory_reader.h"
#include "census/roots.h"

namespace plateau {

// What was read while the process stood still. The types of the walk are those of all objects that
// are to be told apart, listed or not.
struct HeapCopy {
  MemoryReader& memory;
  const PythonLayout& layout;
  const HeapWalk& walk;
  const Roots& roots;
  const std::vector<uint64_t>& tensors;  // Some that were announced whole.
  ProgramText text;                      // Of the files that lines are looked up in.
};

// The largest containers, or, against an earlier look at the same process, those that grew. Needs
// only what the memory keeps.
HolderFindings find_holders(const HeapCopy& copy, const HolderIndex* before,
                            const std::function<bool()>& late);

}  // namespace plateau
