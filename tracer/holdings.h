// SPDX-License-Identifier: Apache-2.0
// Memory that a call begins but none of ours ends: the stacks of threads, and files in memory
// (memfd_create, shm_open) that nobody maps.
//
// The question. glibc maps the stack of a thread for itself, and a file in memory is filled by
// write(), ftruncate() or through a mapping. Who is to blame is known at the beginning, from the
// call that asked for it; how much it is, only from looking again.
//
// The method. The call makes a holding: an entry of a table with the id of its call stack. Later
// looks measure it (pages of the stack that are resident, blocks of the file) and tell the
// difference as an alloc of that stack, at an address that no memory has. Looks are taken when the
// next holding is made, at the newest ones, and when the recorder asks for the allocator's account,
// at all in turn. A file is over when neither its descriptor nor its name leads to it; a thread
// says so itself as it ends.
//
// Worked number: a thread of 8 MiB of which 512 KiB were used is told as 528 KiB. A look is one or
// two system calls, 16 of them per new holding: about 10 us beside the 30 us of making a thread.
//
// Blind spots: a file whose descriptor is open in another process only is over for this one;
// holdings beyond kMaxHoldings are not told; what grows after the last look is told at the next
// one.
//
// Any thread. Nothing here waits or allocates; errno is kept. The table is empty in a child made by
// fork, which inherits neither threads nor blame.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tracer/blocks.h"
#include "tracer/segment.h"

namespace plateau::trace {

inline constexpr size_t kMaxHoldings = 4096;
inline constexpr size_t kMaxFileName = 64;

enum class HoldingState : uint32_t {
  empty = 0,
  claimed,          // Being filled in by the thread that made it.
  idle,             // Complete.
  busy,             // Being measured.
  ended_meanwhile,  // Its end came while it was being measured; who measures tells it.
};

struct Holding {
  std::atomic<HoldingState> state;
  BlockKind kind;       // stack or shared.
  uint64_t call_stack;  // Id of the stack that made it.
  uint64_t told_bytes;
  // A thread: what it is to run, and where its stack lies.
  void* (*routine)(void*);
  void* argument;
  uint64_t stack_bytes;
  std::atomic<uint64_t> stack_end;  // First address above; 0 until the thread runs.
  std::atomic<uint64_t> thread;     // Its pthread_t.
  // A file.
  int fd;
  uint64_t device;
  uint64_t inode;
  std::atomic<uint64_t> mapped_at;  // Mapped here, and so told as a mapping; 0: not.
  char name[kMaxFileName];          // Below /dev/shm; "" if it has none.
};

// False while nothing is to be told: nothing is traced, or a hook was entered from within one.
bool holdings_wanted() noexcept;
// The same of threads: they are followed in a sandbox too, where nothing is measured.
bool threads_wanted() noexcept;

// A claimed holding with the stack of the caller of a hook, or nullptr. Fill in what depends on its
// kind and publish it.
Holding* claim_holding(BlockKind kind, Site site) noexcept;
void publish_holding(Holding& holding) noexcept;
// It is over, and will not be looked at again. Once per holding.
void end_holding(Holding& holding) noexcept;

// Measures the kNewestPerLook newest and up to `others` more, which take turns.
inline constexpr size_t kNewestPerLook = 16;
inline constexpr size_t kOthersPerAccount = 64;
void measure_holdings(size_t others) noexcept;

// A file in memory was made or opened for making; `fd` is its descriptor, `name` as given to
// shm_open or nullptr.
void note_memory_file(int fd, const char* name, Site site) noexcept;
// The file behind `fd` was mapped, or the mapping that begins at an address is gone.
void note_file_mapped(int fd, const void* at) noexcept;
void note_file_unmapped(const void* at) noexcept;

// Once, before tracing begins: children are to find the table empty. False if that cannot be had.
bool protect_holdings() noexcept;
// In a child, where that was not had.
void empty_holdings() noexcept;

}  // namespace plateau::trace
