// SPDX-License-Identifier: Apache-2.0
// Strings and string-keyed dictionaries of a Python in another address space.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "census/memory_reader.h"
#include "tracer/python_layout.h"

namespace plateau {

// The str at `address` as UTF-8, at most 256 characters of it; nullopt if it is no compact str.
std::optional<std::string> read_python_str(MemoryReader& memory, const PythonLayout& layout,
                                           uint64_t address);

// The C string at `address`, at most 256 bytes of it.
std::optional<std::string> read_c_string(MemoryReader& memory, uint64_t address);

// The address of the value for `key` in the dict at `address`, among its first 4096 entries.
// Keys that are no str, and dicts with shared keys, are passed over.
std::optional<uint64_t> find_in_dict(MemoryReader& memory, const PythonLayout& layout,
                                     uint64_t address, std::string_view key);

// What follows the header of a dict's keys, in bytes and places.
struct KeysShape {
  uint64_t slots = 0;
  uint64_t index_bytes = 0;
  uint64_t entry_bytes = 0;
  uint64_t usable = 0;   // Entries that still fit.
  uint64_t entries = 0;  // Entries in use, deleted ones included.
  int64_t refcount = 0;
  bool unicode = false;  // Entries without hash: all keys are str.
};

// Of the keys object at `address`; nullopt if it cannot be read or makes no sense.
std::optional<KeysShape> read_keys_shape(MemoryReader& memory, const PythonLayout& layout,
                                         uint64_t address, bool near);

}  // namespace plateau
