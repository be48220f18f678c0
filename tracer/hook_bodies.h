// SPDX-License-Identifier: Apache-2.0
// What every hook does, for the exported and the attached entry of it alike.
//
// The order within each body is the rule of segment.h: a free is stamped before the block is given
// back, an alloc after it was handed out. A hook that is entered from inside a real allocator
// function (one that is made of others) only forwards: the outer call is told.
#pragma once

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tracer/blocks.h"
#include "tracer/holdings.h"
#include "tracer/python.h"
#include "tracer/real_functions.h"
#include "tracer/stack.h"
#include "tracer/system_calls.h"

namespace plateau::trace {

// Runs a real function and notes the block it returns.
template <typename Call>
[[gnu::always_inline]] inline void* allocate(size_t bytes, Site site, Call call) {
  ThreadState& thread = thread_state;
  if (thread.within == Within::allocator) [[unlikely]] {
    return call();
  }
  thread.within = Within::allocator;
  void* block = call();
  thread.within = Within::program;
  if (alloc_due(bytes)) [[unlikely]] {
    note_alloc(BlockKind::heap, block, bytes, site);
  }
  return block;
}

// True if a real function may be called and its result returned, with nothing before or after: the
// usual case, in which a hook is a subtraction and a jump. Counts `bytes` down if so.
[[gnu::always_inline]] inline bool only_counts(size_t bytes) {
  const int64_t left = thread_state.countdown - static_cast<int64_t>(bytes);
  if (left < 0) [[unlikely]] {
    return false;
  }
  thread_state.countdown = left;
  return true;
}
[[gnu::always_inline]] inline bool may_cut_short(ShortCut least) {
  ShortCut now = ShortCut::none;
  __atomic_load(&real.short_cut, &now, __ATOMIC_RELAXED);
  return now >= least;
}

[[gnu::always_inline]] inline void* malloc_body(Site site, size_t bytes) {
  return allocate(bytes, site, [&] { return real.malloc(bytes); });
}

[[gnu::always_inline]] inline void* calloc_body(Site site, size_t count, size_t each) {
  // Where the product overflows the real one returns null, which is not noted.
  return allocate(count * each, site, [&] { return real.calloc(count, each); });
}

// The same of free().
[[gnu::always_inline]] inline bool only_frees(const void* block) {
  return !in_boot_arena(block) && !free_due(block);
}

[[gnu::always_inline]] inline void free_body(void* block) {
  if (in_boot_arena(block)) [[unlikely]] {
    return;
  }
  if (free_due(block)) [[unlikely]] {
    note_free(block);
  }
  real.free(block);
}

inline void* realloc_from_boot(Site site, void* block, size_t bytes) {
  void* fresh = malloc_body(site, bytes);
  if (fresh != nullptr) {
    const size_t old = boot_block_bytes(block);
    memcpy(fresh, block, old < bytes ? old : bytes);
  }
  return fresh;
}

[[gnu::always_inline]] inline void* realloc_body(Site site, void* block, size_t bytes) {
  if (block != nullptr && in_boot_arena(block)) [[unlikely]] {
    return realloc_from_boot(site, block, bytes);
  }
  PendingFree pending;
  if (free_due(block)) [[unlikely]] {
    pending = begin_free(block);
  }
  return allocate(bytes, site, [&] {
    void* fresh = real.realloc(block, bytes);
    if (pending.address != 0) [[unlikely]] {
      // Null with a size of 0 means that the block was given back.
      if (fresh != nullptr || bytes == 0) {
        finish_free(pending);
      } else {
        undo_free(pending);
      }
    }
    return fresh;
  });
}

[[gnu::always_inline]] inline void* reallocarray_body(Site site, void* block, size_t count,
                                                      size_t each) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, each, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  return realloc_body(site, block, bytes);
}

[[gnu::always_inline]] inline int posix_memalign_body(Site site, void** out, size_t alignment,
                                                      size_t bytes) {
  int error = 0;
  allocate(bytes, site, [&]() -> void* {
    error = real.posix_memalign(out, alignment, bytes);
    return error == 0 ? *out : nullptr;
  });
  return error;
}

// Memory that is only reserved, without access or without a promise of backing, is no allocation.
inline bool is_memory(size_t bytes, int protection, int flags) noexcept {
  return bytes >= kMinMappingBytes && (flags & MAP_ANONYMOUS) != 0 &&
         (flags & MAP_TYPE) == MAP_PRIVATE && (flags & MAP_NORESERVE) == 0 &&
         (protection & PROT_WRITE) != 0;
}

// Shared memory: without a file, or with one that lies in memory (/dev/shm, memfd). A file on a
// disk is page cache, which the kernel takes back.
inline bool is_shared_memory(size_t bytes, int protection, int flags, int fd) noexcept {
  const int type = flags & MAP_TYPE;
  if (bytes < kMinMappingBytes || (type != MAP_SHARED && type != MAP_SHARED_VALIDATE) ||
      (protection & PROT_WRITE) == 0) {
    return false;
  }
  return (flags & MAP_ANONYMOUS) != 0 || (may_call(MayCall::anything) && sys_is_in_memory(fd));
}

inline void* mmap_body(Site site, void* at, size_t bytes, int protection, int flags, int fd,
                       off_t offset) {
  const uint64_t stamp = trace_stamp();
  void* memory = real.mmap(at, bytes, protection, flags, fd, offset);
  if (memory == MAP_FAILED || !mappings_wanted()) {
    return memory;
  }
  if ((flags & MAP_FIXED) != 0) {
    forget_mapping(memory);
    note_unmapping(memory, bytes, stamp);
  }
  if (is_memory(bytes, protection, flags)) {
    note_mapping(mapping_kind(site.caller, bytes), memory, bytes, site);
  } else if (is_shared_memory(bytes, protection, flags, fd)) {
    note_mapping(BlockKind::shared, memory, bytes, site);
    note_file_mapped(fd, memory);
  }
  return memory;
}

inline int munmap_body(void* at, size_t bytes) {
  const uint64_t stamp = trace_stamp();
  // Before the call: afterwards the address may be another thread's.
  const bool wanted = mappings_wanted();
  const bool known = wanted && forget_mapping(at);
  const int result = real.munmap(at, bytes);
  if (wanted && result == 0) {
    note_unmapping(at, bytes, stamp);
    note_file_unmapped(at);
  }
  if (known && result != 0) {
    tables.mappings.insert(reinterpret_cast<uint64_t>(at));
  }
  return result;
}

inline void* mremap_body(Site site, void* at, size_t old_bytes, size_t bytes, int flags, void* to) {
  const uint64_t stamp = trace_stamp();
  const bool wanted = mappings_wanted();
  const bool known = wanted && forget_mapping(at);
  void* memory = real.mremap(at, old_bytes, bytes, flags, to);
  if (memory == MAP_FAILED) {
    if (known) {
      tables.mappings.insert(reinterpret_cast<uint64_t>(at));
    }
    return memory;
  }
  if (wanted) {
    note_unmapping(at, old_bytes, stamp);
  }
  if (known) {
    note_mapping(mapping_kind(site.caller, bytes), memory, bytes, site);
  }
  return memory;
}

inline int memfd_create_body(Site site, const char* name, unsigned flags) {
  const int fd = static_cast<int>(as_libc(system_call(SYS_memfd_create, name, flags)));
  if (fd >= 0 && holdings_wanted()) {
    note_memory_file(fd, nullptr, site);
  }
  return fd;
}

inline int shm_open_body(Site site, const char* name, int flags, mode_t mode) {
  const int fd = real.shm_open(name, flags, mode);
  if (fd >= 0 && (flags & O_CREAT) != 0 && holdings_wanted()) {
    note_memory_file(fd, name, site);
  }
  return fd;
}

inline int prctl_body(int option, long second, long third, long fourth, long fifth) {
  expect_restriction(restriction_of(SYS_prctl, option, second));
  return real.prctl(option, second, third, fourth, fifth);
}

inline int dlclose_body(void* handle) {
  begin_unloading();
  const int result = real.dlclose(handle);
  end_unloading();
  return result;
}

}  // namespace plateau::trace
