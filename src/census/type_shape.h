// SPDX-License-Identifier: Apache-2.0
// Where the objects of a Python type keep what they hold.
//
// Two parts: what the built-in type among its bases holds (the items of a list, the closure of a
// function), and the attributes that a class of the user adds: in a dict, in a block of values
// whose names the class keeps, or in slots.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "census/memory_reader.h"
#include "tracer/python_layout.h"

namespace plateau {

enum class Holds : uint8_t {
  nothing,  // That is read: a tensor, a file, an iterator.
  list,
  tuple,
  dict,
  set,
  deque,
  function,
  cell,
  method,
  generator,  // And coroutines.
  frame,
  exception,
  traceback,
  lru_cache,
  lru_element,
  partial,
};

// Where the attributes are.
enum class Attributes : uint8_t {
  none,
  dict_at_offset,  // A pointer to a dict in the object.
  before_object,   // 3.11, 3.12: two words before the collector's head.
  inside_object,   // 3.13 on: behind the object, or in a dict.
};

// A name of __slots__.
struct SlotPlace {
  uint64_t name = 0;  // Address of a C string.
  int32_t offset = 0;
};

struct TypeShape {
  Holds holds = Holds::nothing;
  Attributes attributes = Attributes::none;
  int32_t dict_offset = 0;
  uint64_t basic_bytes = 0;
  uint64_t shared_keys = 0;  // Names of attributes that have no dict; 0: none.
  std::vector<SlotPlace> slots;

  [[nodiscard]] bool holds_nothing() const {
    return holds == Holds::nothing && attributes == Attributes::none && slots.empty();
  }
  // Something whose length says how much it holds.
  [[nodiscard]] bool counts() const { return holds >= Holds::list && holds <= Holds::deque; }
};

// What a built-in type of this name holds; those that flags tell are not among them.
Holds holds_by_name(std::string_view name);

// Of the type at `address`. `by_name` is what its bases hold by their names.
TypeShape read_type_shape(MemoryReader& memory, const PythonLayout& layout, uint64_t address,
                          uint64_t flags, Holds by_name);

}  // namespace plateau
