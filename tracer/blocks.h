// SPDX-License-Identifier: Apache-2.0
// What the hooks say of blocks: one came, one went. The fast halves are here, inline.
//
// Any thread, also in a signal handler that interrupted any of this; nothing waits or allocates,
// and errno is kept.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tracer/process.h"
#include "tracer/segment.h"
#include "tracer/thread_state.h"

namespace plateau::trace {

// Where a hook was called: its return address, and its own frame.
struct Site {
  uint64_t caller = 0;
  const void* frame = nullptr;
};
#define PLATEAU_SITE                                                                    \
  ::plateau::trace::Site {                                                              \
    reinterpret_cast<uint64_t>(__builtin_return_address(0)), __builtin_frame_address(0) \
  }

// Counts `bytes` down; true if note_alloc() is due for this block. Once per block.
inline bool alloc_due(size_t bytes) noexcept {
  return (thread_state.countdown -= static_cast<int64_t>(bytes)) < 0;
}
// The block is alive and nobody else knows it yet. `block` may be null: it then came to nothing.
void note_alloc(BlockKind kind, const void* block, size_t bytes, Site site) noexcept;

// True if note_free() must be called before the block is given back.
inline bool free_due(const void* block) noexcept {
  const auto address = reinterpret_cast<uint64_t>(block);
  const uint64_t mask = process.filter_mask.load(std::memory_order_relaxed);
  return tables.filter.at(AddressFilter::index(address) & mask) != 0;
}
void note_free(const void* block) noexcept;

// The same in two halves, for realloc: the block is taken off the books before the real call, and
// afterwards the free is told, with the stamp of the beginning, or undone.
struct PendingFree {
  uint64_t address = 0;  // 0: the block was not known; nothing is to be told.
  uint64_t stamp = 0;
};
PendingFree begin_free(const void* block) noexcept;
void finish_free(const PendingFree& pending) noexcept;
void undo_free(const PendingFree& pending) noexcept;

// Mappings of the program itself. They are few and large, so all are told, in sampled mode too.
void note_mapping(BlockKind kind, const void* begin, size_t bytes, Site site) noexcept;
// `stamp` is of before the memory was given back.
void note_unmapping(const void* begin, size_t bytes, uint64_t stamp) noexcept;
// True if a mapping that begins here was told; it is then forgotten.
bool forget_mapping(const void* begin) noexcept;
// False while nothing is traced, or the call comes from inside an allocator or the tracer.
bool mappings_wanted() noexcept;

}  // namespace plateau::trace
