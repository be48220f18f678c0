// SPDX-License-Identifier: Apache-2.0
// What a Python type says of itself and of the size of its objects.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "census/memory_reader.h"
#include "census/type_shape.h"
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
  TypeShape shape;
};

// Of the type at `address`; nullopt if what is there is no type.
std::optional<TypeFacts> read_type_facts(MemoryReader& memory, const PythonLayout& layout,
                                         uint64_t address);

// The first bytes of an object, as far as they could be read: what tells its size stands in them.
struct ObjectStart {
  static constexpr size_t kBytes = 96;

  uint64_t address = 0;
  size_t bytes = 0;
  std::array<unsigned char, kBytes> data;

  // The word at `offset`, an offset of PythonLayout; 0 if it lies beyond.
  [[nodiscard]] uint64_t word(int32_t offset) const {
    uint64_t value = 0;
    const auto at = static_cast<size_t>(static_cast<uint32_t>(offset));
    if (at + sizeof value <= bytes) std::memcpy(&value, data.data() + at, sizeof value);
    return value;
  }
};

// Bytes of the object itself, as sys.getsizeof counts them: without the objects it points to.
// 0 if they make no sense.
uint64_t object_bytes(MemoryReader& memory, const PythonLayout& layout, const TypeFacts& type,
                      const ObjectStart& object);

}  // namespace plateau
