// SPDX-License-Identifier: Apache-2.0
// What the hooks of operator new and delete do.
//
// Some allocators bring operators of their own that do not go through malloc; others, libstdc++'s
// first of all, do. Which it is shows in the first call; only in the former case blocks are noted
// here. A block is `probing`, not `allocator`, while the real operator runs: should it throw, the
// malloc of the exception finds the state it expects and clears it. Where the operator is known to
// be malloc we call that at once: the way through libstdc++ and a second hook is saved. Should
// there be no memory, libstdc++ knows what to do.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tracer/hook_bodies.h"

namespace plateau::trace {

enum class NewKind : uint8_t { unknown, through_malloc, of_its_own };
extern std::atomic<NewKind> new_kind;

[[gnu::noinline]] void* note_first_new(Site site, size_t bytes, NewFn call, uintptr_t second,
                                       uintptr_t third);

// Null if there is something to be noted, or no memory.
[[gnu::always_inline]] inline void* new_in_short(size_t bytes) {
  const size_t wanted = bytes > 0 ? bytes : 1;
  if (may_cut_short(ShortCut::new_to_malloc) && only_counts(wanted)) [[likely]] {
    return real.malloc(wanted);
  }
  return nullptr;
}

[[gnu::always_inline]] inline void* new_body(Site site, size_t which, size_t bytes,
                                             uintptr_t second, uintptr_t third) {
  if (which < kPlainNewCount && may_cut_short(ShortCut::new_to_malloc)) [[likely]] {
    if (void* block = malloc_body(site, bytes > 0 ? bytes : 1)) [[likely]] {
      return block;
    }
  }
  NewFn call = real_new(which, site.caller);
  const NewKind kind = new_kind.load(std::memory_order_relaxed);
  if (kind == NewKind::through_malloc) [[likely]] {
    return call(bytes, second, third);
  }
  if (kind == NewKind::unknown) {
    return note_first_new(site, bytes, call, second, third);
  }
  thread_state.within = Within::probing;
  void* block = call(bytes, second, third);
  thread_state.within = Within::program;
  if (alloc_due(bytes)) [[unlikely]] {
    note_alloc(BlockKind::heap, block, bytes, site);
  }
  return block;
}

[[gnu::always_inline]] inline void delete_body(Site site, size_t which, void* block,
                                               uintptr_t second, uintptr_t third) {
  if (which < kPlainDeleteCount && may_cut_short(ShortCut::new_to_malloc)) [[likely]] {
    free_body(block);
    return;
  }
  if (new_kind.load(std::memory_order_relaxed) == NewKind::of_its_own && free_due(block)) {
    note_free(block);
  }
  real_delete(which, site.caller)(block, second, third);
}

}  // namespace plateau::trace
