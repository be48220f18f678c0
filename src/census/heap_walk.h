// SPDX-License-Identifier: Apache-2.0
// Walks the lists of CPython's garbage collector and counts what hangs on them, by type.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "census/memory_reader.h"
#include "census/type_facts.h"
#include "tracer/python_layout.h"

namespace plateau {

class Announcer;

// An interpreter in another address space.
struct PythonPlace {
  PythonLayout layout = {};
  uint64_t runtime = 0;  // Address of _PyRuntime.
};

struct TypeTally {
  uint64_t address = 0;
  TypeFacts facts;
  uint64_t objects = 0;
  uint64_t bytes = 0;  // By measure_heap().
};

enum class WalkEnd : uint8_t {
  complete,
  no_interpreter,  // None is set up: the process is starting or ending.
  collecting,      // The collector is at work and has its lists in pieces.
  torn,            // A link does not lead back: the thread stands in the middle of a change.
  late,            // Told to stop.
};

// An object on a list of the collector.
struct SeenObject {
  uint64_t address = 0;
  uint32_t type = 0;  // In HeapWalk::types.
};

struct HeapWalk {
  WalkEnd end = WalkEnd::complete;
  std::vector<TypeTally> types;  // In order of first sight.
  uint64_t objects = 0;
  uint64_t unreadable = 0;       // Objects that are counted, but whose type is not known.
  uint64_t last_collected = 0;   // Objects that the last full collections left; 0 before the first.
  std::vector<SeenObject> seen;  // With an announcer; objects whose type is known.
};

// Reads every generation of every interpreter. `late` is asked now and then. Ends on any memory:
// each step must lead back to where it came from, which no ring but the whole list can satisfy.
// With an announcer objects are also listed, and it is told of each.
HeapWalk walk_heap(MemoryReader& memory, const PythonPlace& place,
                   const std::function<bool()>& late, Announcer* announcer = nullptr);

// How many objects the last full collections of all interpreters left: a guess at what a walk will
// find, read in a moment and while the process runs. 0 before the first.
uint64_t last_collected_objects(MemoryReader& memory, const PythonPlace& place);

// Goes the same way again and adds up the sizes. Apart from the counting because it takes half as
// long, and needs only what walk_heap() has read or announced by expect(): the process may go on
// meanwhile, if `memory` keeps that. Sizes stay 0 if the way is no longer the same.
void measure_heap(MemoryReader& memory, const PythonPlace& place, HeapWalk& walk);

}  // namespace plateau
