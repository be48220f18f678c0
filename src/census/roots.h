// SPDX-License-Identifier: Apache-2.0
// Where the chains begin by which Python holds objects: modules, and frames that run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "census/announce.h"
#include "census/heap_walk.h"
#include "census/memory_reader.h"

namespace plateau {

struct ModuleRoot {
  uint64_t name = 0;  // The key in sys.modules: a str.
  uint64_t dict = 0;
};

struct FrameRoot {
  uint64_t frame = 0;
  uint64_t code = 0;
  int32_t instruction = -1;  // Byte offset of the running one; -1: it has not begun.
};

struct Roots {
  std::vector<ModuleRoot> modules;
  std::vector<FrameRoot> frames;        // First thread first; of a thread the outermost first.
  std::vector<uint64_t> thread_values;  // Dicts of what is local to a thread.
};

// Finds them and announces by expect() what references and names need of them. The process stands
// still. Bounded: at most so many modules, threads and frames as no sane program has.
Roots find_roots(MemoryReader& memory, const PythonPlace& place, Announcer& announcer);

// A function as a reader knows it.
struct CodeText {
  std::string function;  // "Trainer.train"; "" if it could not be read.
  std::string file;      // As compiled.
  int line = 0;          // Of the instruction.
};
CodeText read_code(MemoryReader& memory, const PythonLayout& layout, uint64_t code,
                   int32_t instruction);

// The name of a local (cells and free variables follow the locals), or of a free variable.
std::optional<std::string> local_name(MemoryReader& memory, const PythonLayout& layout,
                                      uint64_t code, uint64_t index);
std::optional<std::string> free_name(MemoryReader& memory, const PythonLayout& layout,
                                     uint64_t code, uint64_t index);

// Announces a code object with all that the three above read of it.
void expect_code(MemoryReader& memory, const PythonLayout& layout, uint64_t code);

}  // namespace plateau
