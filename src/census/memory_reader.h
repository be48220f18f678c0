// SPDX-License-Identifier: Apache-2.0
// Bytes of another address space, as the walk over Python's heap needs them.
//
// The walk sees memory only through this, so that tests can hand it memory that never was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace plateau {

class MemoryReader {
 public:
  MemoryReader() = default;
  MemoryReader(const MemoryReader&) = delete;
  MemoryReader& operator=(const MemoryReader&) = delete;
  virtual ~MemoryReader() = default;

  // Copies `bytes` bytes at `address` to `out`, all of them or false. Any address is allowed.
  // `near` says that what lies around will be asked for too, so more may be fetched at once.
  virtual bool read(uint64_t address, void* out, size_t bytes, bool near) = 0;

  // The `bytes` bytes at `address` will be asked for when they can no longer be fetched.
  virtual void expect(uint64_t /*address*/, size_t /*bytes*/) {}
};

template <typename T>
std::optional<T> read_value(MemoryReader& memory, uint64_t address, bool near = false) {
  T value;
  if (!memory.read(address, &value, sizeof value, near)) return std::nullopt;
  return value;
}

// The member at `offset` of the structure at `address`. Offsets are those of PythonLayout.
template <typename T>
std::optional<T> read_member(MemoryReader& memory, uint64_t address, int32_t offset,
                             bool near = false) {
  if (address == 0 || offset < 0) return std::nullopt;
  return read_value<T>(memory, address + static_cast<uint32_t>(offset), near);
}

}  // namespace plateau
