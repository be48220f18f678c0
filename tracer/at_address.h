// SPDX-License-Identifier: Apache-2.0
// The one place where a number becomes a pointer: addresses come from tables, registers and stacks.
#pragma once

#include <cstdint>

namespace plateau::trace {

template <typename T>
inline const T* at_address(uint64_t address) noexcept {
  return reinterpret_cast<const T*>(address);  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace plateau::trace
