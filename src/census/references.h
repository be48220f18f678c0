// SPDX-License-Identifier: Apache-2.0
// What a Python object in another address space points to, and by which name.
//
// Only references that hold an object are followed: no weak ones. What a type of C or C++ keeps in
// its own memory is not seen (the graph of a tensor, the items of an iterator).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "census/memory_reader.h"
#include "census/python_text.h"
#include "census/type_shape.h"

namespace plateau {

enum class EdgeKind : uint8_t {
  attribute,      // `name`: its str.
  slot,           // `name`: a C string.
  item,           // `index`: of a list, tuple, deque; of a set its place in the table.
  entry,          // The value for a key; `name`: the key.
  key,            // A key of a dict.
  local,          // Of a frame; `name`: its code, `index`: which.
  free_variable,  // The cell of a function; `name`: its code, `index`: which.
  cached,         // The dict of an lru_cache; `name`: the function.
  part,           // Any other; `index`: a Part.
  attribute_dict  // The dict whose entries are told as attributes beside it.
};

enum class Part : uint8_t {
  value,  // Of a cell, or a cached result: the object stands for it.
  self,
  function,
  defaults,
  arguments,
  traceback,
  context,
  frame,
  next,
};

struct Edge {
  EdgeKind kind = EdgeKind::part;
  uint64_t name = 0;
  uint64_t index = 0;
  uint64_t target = 0;  // Never 0; may point anywhere.
};
using VisitEdge = std::function<void(const Edge&)>;

// Reads many words at once, never more than is sane. One thread.
class References {
 public:
  References(MemoryReader& memory, const PythonLayout& layout) : memory_(memory), layout_(layout) {}

  // Those of the object at `address`, as far as they can be read.
  void of(uint64_t address, const TypeShape& shape, const VisitEdge& visit);
  // Without those of its built-in part.
  void of_attributes_only(uint64_t address, const TypeShape& shape, const VisitEdge& visit);
  // Those of a namespace: the dict of a module or class.
  void of_namespace(uint64_t dict, const VisitEdge& visit);
  // Locals, cells and free variables of a frame.
  void of_frame(uint64_t frame, const VisitEdge& visit);
  // What may stand on the value stack of a frame: also what stood there.
  void of_stack(uint64_t frame, const VisitEdge& visit);

  // The names in a dict's keys.
  void names_of(uint64_t keys, const std::function<void(uint64_t)>& visit);

  // How many objects it holds; 0 for what does not count.
  uint64_t length(uint64_t address, const TypeShape& shape);

 private:
  uint64_t word(uint64_t address, int32_t offset);
  void visit_word(uint64_t address, int32_t offset, Part part, const VisitEdge& visit);
  bool read_words(uint64_t address, uint64_t count);
  bool read_bytes(uint64_t address, uint64_t count);
  void of_items(uint64_t items, uint64_t count, const VisitEdge& visit);
  void of_dict(uint64_t dict, EdgeKind kind, const VisitEdge& visit);
  void of_entries(uint64_t keys, uint64_t values, EdgeKind kind, const VisitEdge& visit);
  void of_set(uint64_t set, const VisitEdge& visit);
  void of_deque(uint64_t deque, const VisitEdge& visit);
  void of_function(uint64_t function, const VisitEdge& visit);
  void of_generator(uint64_t generator, const VisitEdge& visit);
  void of_builtin_part(uint64_t address, Holds holds, const VisitEdge& visit);
  void of_attributes(uint64_t address, const TypeShape& shape, const VisitEdge& visit);
  void of_attribute_dict(uint64_t dict, const VisitEdge& visit);

  MemoryReader& memory_;
  const PythonLayout& layout_;
  std::vector<uint64_t> words_;
  std::vector<unsigned char> bytes_;
};

}  // namespace plateau
