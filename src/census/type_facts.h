// SPDX-License-Identifier: Apache-2.0
// What a Python type says of itself and of the size of its objects.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "census/memory_reader.h"
#include "tracer/python_layout.h"

namespace plateau {

struct TypeFacts {
  // How to find the size of an object beyond the fixed part.
  enum class Extra : uint8_t { none, items, list, dict, set };

  std::string name;  // "list", "collections.OrderedDict", "__main__.Outer.Inner".
  bool tensor = false;
  Extra extra = Extra::none;
  uint64_t fixed_bytes = 0;  // With what stands before the object: collector's head, dict pointer.
  uint64_t item_bytes = 0;
};

// Of the type at `address`; nullopt if what is there is no type.
std::optional<TypeFacts> read_type_facts(MemoryReader& memory, const PythonLayout& layout,
                                         uint64_t address);

// Bytes of the object at `address` itself, as sys.getsizeof counts them: without the objects it
// points to. `var_size` is its ob_size, where the type has one. 0 if it makes no sense.
uint64_t object_bytes(MemoryReader& memory, const PythonLayout& layout, const TypeFacts& type,
                      uint64_t address, int64_t var_size);

}  // namespace plateau
