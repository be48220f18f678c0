// SPDX-License-Identifier: Apache-2.0
// What an allocator says about itself, asked inside the process that uses it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "inject/allocators.h"
#include "inject/inject.h"

namespace plateau {

// Bytes; a figure the allocator does not give is missing.
struct AllocatorFigures {
  std::string name;                // "glibc", "jemalloc", "tcmalloc", "mimalloc", "other".
  std::optional<uint64_t> in_use;  // Handed out, with the allocator's own rounding.
  std::optional<uint64_t> free;    // Held but not handed out.
  std::optional<uint64_t> system;  // Held from the kernel in all.
};

// The functions of the target's allocator that answer and that give memory back, looked up before
// anything is stopped.
struct AllocatorDesk {
  AllocatorFamily family = AllocatorFamily::other;
  uint64_t ask = 0;      // mallinfo2, mallctl, MallocExtension_GetNumericProperty, mi_process_info
  bool ask_old = false;  // mallinfo: its figures wrap at 4 GB and are then left out.
  uint64_t release = 0;  // malloc_trim, mallctl, MallocExtension_ReleaseFreeMemory, mi_collect
  std::string release_words;  // "malloc_trim(0)"
};
Result<AllocatorDesk> find_desk(pid_t pid);

// At a safe point already reached.
Result<AllocatorFigures> ask_at(SafePoint& point, const AllocatorDesk& desk);
// Makes the allocator give back what it holds and nobody uses.
Result<uint64_t> release_at(SafePoint& point, const AllocatorDesk& desk);

// Reaches a safe point and asks. For the ledger.
Result<AllocatorFigures> ask_allocator(pid_t pid, const InjectOptions& options = {});

}  // namespace plateau
