// SPDX-License-Identifier: Apache-2.0
// What the tracer keeps per process: how it traces, the segment it writes to, its tables.
//
// A process that was made by fork must not write to its parent's segment. There are many ways to
// fork, some of which call no handler, so the kernel tells: the tables lie in pages that are zero
// in a child (MADV_WIPEONFORK). An owner of 0 therefore means "this process has no segment yet", at
// the start of a program and after any fork alike, and the tables are empty in both cases. The
// segment is made when the first record is due: a process that allocates little makes none.
//
// A child of vfork (posix_spawn) shares all memory with its parent, which stands still meanwhile. A
// block it allocates is a block of its parent and stays so after its exec; it is recorded as such.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tracer/address_set.h"
#include "tracer/sandbox.h"
#include "tracer/segment.h"
#include "tracer/sent_stacks.h"

namespace plateau::trace {

enum class Mode : uint8_t {
  unset = 0,  // The environment has not been read yet.
  off,
  sampled,
  exact,
};

inline constexpr uint32_t kNoOwner = 0;
inline constexpr uint32_t kSettingUp = 1;
// Above both, also of the first process of a namespace.
constexpr uint32_t owner_word(int pid) {
  return static_cast<uint32_t>(pid) + 1;
}
inline constexpr size_t kPageBytes = 4096;
inline constexpr size_t kMaxDirectoryBytes = 400;
inline constexpr size_t kFilterSlots = size_t{1} << 13;
using PageFilter = CountFilter<kFilterSlots, kPageShift>;

// An unwind rule as unwind.cc keeps it: all zero is none.
struct KeptRule {
  std::atomic<uint64_t> check;
  std::atomic<uint64_t> rule;
};
inline constexpr uint64_t kYoungRules = 128;

// Whole pages that the kernel empties in a child. About 1.4 MB, touched only where used. What every
// child touches comes first, on one page.
struct alignas(kPageBytes) Tables {
  std::atomic<uint32_t> owner;      // owner_word() of its id, once the segment is there.
  std::atomic<uint32_t> answering;  // A thread is asking the allocator for its account.
  KeptRule young_rules[kYoungRules];
  PageFilter filter;  // Of `blocks`; in exact mode slot 0 is 1.
  AddressFilter second_filter;
  AddressSet<size_t{1} << 17> blocks;  // Sampled and alive.
  AddressSet<4096> mappings;           // First addresses of mappings that were recorded.
  SentStacks<size_t{1} << 14> stacks;
};

struct Process {
  std::atomic<Mode> mode{Mode::unset};
  std::atomic<uint32_t> interval_log2{0};  // In force; 0 in exact mode.
  // Where free() looks: the filter's slots in sampled mode, else slot 0 alone, which says yes in
  // exact mode and no when off.
  std::atomic<uint64_t> filter_mask{0};
  std::atomic<SegmentHeader*> segment{nullptr};
  std::atomic<uint32_t> configuring{0};
  std::atomic<uint8_t> next_lane{0};
  std::atomic<bool> forked{false};  // It has a segment of its own where its parent had one, too.
  bool started = false;             // Constructors have run: the environment is what it is.
  uint32_t first_interval_log2 = 0;
  int32_t filters = 0;  // On system calls, when tracing began; -1: not known.
  std::atomic<MayCall> may_call{MayCall::anything};
  char directory[kMaxDirectoryBytes] = {};
};

extern Tables tables;
extern Process process;

// Reads PLATEAU_HEAP once it can be read. The mode, which is unset if it is too early.
Mode configure() noexcept;

// Begins to trace as `spec` ("DIRECTORY:sampled|exact:INTERVAL") says. False if it says nothing
// that is understood or the tables cannot be protected from children.
bool configure_from(const char* spec) noexcept;

// The recorder is another one now: the next record makes a segment of its own, in which everything
// is announced again. The old one stays mapped, because a thread may be writing to it.
void begin_anew() noexcept;

// From now on hooks only forward.
void switch_off() noexcept;

// Stops for good: hooks forward from now on. The segment gets `state`.
void stop_tracing(SegmentState state) noexcept;

// The segment of this very process, made if needed; nullptr if there is none. Changes errno.
SegmentHeader* start_segment() noexcept;
inline SegmentHeader* current_segment() noexcept {
  if (tables.owner.load(std::memory_order_acquire) > kSettingUp) [[likely]] {
    return process.segment.load(std::memory_order_relaxed);
  }
  return start_segment();
}

// Whether calls of this kind may be made now.
inline bool may_call(MayCall what) noexcept {
  return process.may_call.load(std::memory_order_acquire) <= what;
}

// Doubles the sampling interval when the set of sampled blocks fills up.
void make_room_for_samples(SegmentHeader& segment) noexcept;

}  // namespace plateau::trace
