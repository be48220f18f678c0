// SPDX-License-Identifier: Apache-2.0
// A place as a reader knows it: `trainer.history.records` of module `__main__`.
#pragma once

#include <cstdint>

#include "census/holder_graph.h"
#include "census/holders.h"
#include "census/memory_reader.h"

namespace plateau {

struct PathSource {
  MemoryReader& memory;
  const PythonLayout& layout;
  const HeapWalk& walk;
  const Roots& roots;
  const HolderGraph& graph;
};

// Fills kind, path, owner, module, function, file and line of `holder`. Names that cannot be read
// are told as "?".
void describe_place(const PathSource& source, uint32_t place, Holder& holder);

}  // namespace plateau
