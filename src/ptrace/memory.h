// SPDX-License-Identifier: Apache-2.0
// Memory of another process, by its addresses. Whether it stands still is the caller's business.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace plateau {

// Copies `count` bytes at `address`; how many could be copied before the first that cannot be read.
size_t copy_memory(pid_t pid, uint64_t address, void* into, size_t count);

// False if not all could be read or written. Pages are written even if the process itself may not,
// and become its own if they were of a file.
bool read_memory(pid_t pid, uint64_t address, void* into, size_t count);
bool write_memory(pid_t pid, uint64_t address, const void* from, size_t count);

}  // namespace plateau
