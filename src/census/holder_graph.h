// SPDX-License-Identifier: Apache-2.0
// Follows references from the roots to every object, and groups objects by the way that led there.
//
// The question is not which object holds which, but which variable of the program does. So each
// object is reached once, breadth first, and the names on the way make a *place*: `history` of
// `trainer`, then `records`, then an item of it. All items of a list are one place, whatever their
// number: places are as many as names in the program, not as objects in the heap, and a place is
// the same in two looks at one process. What grew is then a subtraction.
//
// Worked case: trainer.history.records with 12,400 tensors: places `trainer`, `.history`,
// `.records` (one container, length 12,400) and `.records[*]` (12,400 objects).
//
// Objects linked one to the next (`node.next.next`) are one place too, told as a chain: a name that
// leads to the place it starts from does not make a new one.
//
// Blind spot: what a type of C or C++ keeps. Objects that only such hold are not reached; nor is
// garbage in cycles before it is collected. Both are counted as unseen.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "census/heap_walk.h"
#include "census/memory_reader.h"
#include "census/references.h"
#include "census/roots.h"

namespace plateau {

inline constexpr uint32_t kNowhere = UINT32_MAX;

enum class PlaceRoot : uint8_t { none, module, frame, thread, stack };

// A way to objects, as names.
struct Place {
  PlaceRoot root = PlaceRoot::none;
  uint32_t parent = kNowhere;   // None for a root.
  Edge label;                   // From the parent; its target means nothing. Of a root: `index`.
  uint32_t example = kNowhere;  // An object that is here.
  uint64_t identity = 0;        // The same in every look at one process.
  uint64_t family = 0;          // Of entries of a dict: the same for all of its keys.
  bool chain = false;           // It leads to itself.
  uint32_t objects = 0;
  uint32_t containers = 0;  // Lists, dicts, sets and deques among them, and how long they are.
  uint64_t length = 0;
};

struct GraphNode {
  uint64_t address = 0;
  uint32_t type = 0;  // In HeapWalk::types.
  uint32_t place = kNowhere;
};

struct HolderGraph {
  std::vector<GraphNode> nodes;  // All of HeapWalk::seen first, then what is on no list.
  std::vector<Place> places;
  uint64_t reached = 0;
  bool complete = true;  // False: `late` said so, or there was too much.
};

// Needs only what `memory` keeps. `late` is asked now and then.
HolderGraph follow_references(MemoryReader& memory, const PythonLayout& layout,
                              const HeapWalk& walk, const Roots& roots,
                              const std::function<bool()>& late);

}  // namespace plateau
