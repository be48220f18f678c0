// SPDX-License-Identifier: Apache-2.0
// The functions that the tracer stands in front of.
//
// Every pointer is callable from the first instruction of the process on: until the real function
// is found it leads to one that finds all of them. What dlsym itself allocates while it looks for
// malloc comes from a small arena of our own (boot arena), which is never given back.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace plateau::trace {

// The variants of operator new and delete, in the order of kNewNames and kDeleteNames. All take
// their arguments in registers, so one type with the most arguments serves all of them.
inline constexpr size_t kNewCount = 8;
inline constexpr size_t kDeleteCount = 12;
// The first of each take no alignment.
inline constexpr size_t kPlainNewCount = 4;
inline constexpr size_t kPlainDeleteCount = 6;
extern const char* const kNewNames[kNewCount];
extern const char* const kDeleteNames[kDeleteCount];
using NewFn = void* (*)(size_t, uintptr_t, uintptr_t);
using DeleteFn = void (*)(void*, uintptr_t, uintptr_t);

// What a hook that has nothing to note may do without further questions.
enum class ShortCut : uint8_t {
  none,
  // malloc and its family are glibc's, none of which calls another one through us: nothing must be
  // kept in mind while one runs.
  to_malloc,
  // Besides, operator new and delete without alignment are libstdc++'s, which are malloc with a
  // handler for its failure, and free.
  new_to_malloc,
};

struct RealFunctions {
  void* (*malloc)(size_t);
  void* (*calloc)(size_t, size_t);
  void* (*realloc)(void*, size_t);
  void (*free)(void*);
  void* (*memalign)(size_t, size_t);
  void* (*aligned_alloc)(size_t, size_t);
  int (*posix_memalign)(void**, size_t, size_t);
  void* (*valloc)(size_t);
  void* (*pvalloc)(size_t);
  void* (*mmap)(void*, size_t, int, int, int, off_t);
  int (*munmap)(void*, size_t);
  void* (*mremap)(void*, size_t, size_t, int, void*);
  int (*shm_open)(const char*, int, mode_t);
  int (*pthread_create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  int (*dlclose)(void*);
  long (*syscall)(long, long, long, long, long, long, long);
  int (*prctl)(int, long, long, long, long);
  ShortCut short_cut;
  // Null until found: a C++ runtime may be loaded at any time, and may be visible only to those
  // that loaded it. Read through real_new() and real_delete().
  NewFn operator_new[kNewCount];
  DeleteFn operator_delete[kDeleteCount];
};
extern RealFunctions real;

// Finds them all, once; the first call of any of them does it too.
void find_real_functions() noexcept;

// The real operator for a caller in the code at `caller`. Never null: without any C++ runtime it
// is one that uses malloc and free.
NewFn real_new(size_t which, uint64_t caller) noexcept;
DeleteFn real_delete(size_t which, uint64_t caller) noexcept;

// To be called when operator new is called for the first time: sets the short cut. True if it is
// new_to_malloc.
bool find_short_cut_of_new() noexcept;

// Blocks of the boot arena are never given to a real function.
inline constexpr size_t kBootBytes = size_t{64} * 1024;
extern char boot_memory[kBootBytes];
inline bool in_boot_arena(const void* block) noexcept {
  return reinterpret_cast<uint64_t>(block) - reinterpret_cast<uint64_t>(boot_memory) < kBootBytes;
}
// Bytes of such a block.
size_t boot_block_bytes(const void* block) noexcept;

}  // namespace plateau::trace
