// SPDX-License-Identifier: Apache-2.0
// The one place where a number becomes a pointer: addresses come from tables, registers and stacks.
#pragma once

#include <cstdint>

namespace plateau::trace {

template <typename T>
inline const T* at_address(uint64_t address) noexcept {
  return reinterpret_cast<const T*>(address);  // NOLINT(performance-no-int-to-ptr)
}

// The same for what may be written.
template <typename T>
inline T* writable_at(uint64_t address) noexcept {
  return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace plateau::trace
