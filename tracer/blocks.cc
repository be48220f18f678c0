// SPDX-License-Identifier: Apache-2.0
#include "tracer/blocks.h"

#include <cerrno>

#include "tracer/account.h"
#include "tracer/patience.h"
#include "tracer/sampler.h"
#include "tracer/stack.h"
#include "tracer/system_calls.h"

namespace plateau::trace {
namespace {

// While off a thread looks again after this many bytes: the tracer may be attached a second time.
constexpr int64_t kRecheckBytes = int64_t{1} * 1024 * 1024;

uint32_t preferred_lane(ThreadState& thread) noexcept {
  if (thread.lane == 0) {
    thread.lane = static_cast<uint8_t>(
        process.next_lane.fetch_add(1, std::memory_order_relaxed) % kLaneCount + 1);
  }
  return thread.lane - 1U;
}

// Keeps hooks that are entered from here on from tracing, and the program's errno.
class Occupied {
 public:
  Occupied() noexcept : errno_(errno) { thread_state.busy = Busy::looking; }
  ~Occupied() {
    thread_state.busy = Busy::idle;
    errno = errno_;
  }
  Occupied(const Occupied&) = delete;
  Occupied& operator=(const Occupied&) = delete;

 private:
  int errno_;
};

bool put(SegmentHeader& segment, const RecordPieces* records, size_t count) noexcept {
  ThreadState& thread = thread_state;
  const Busy before = thread.busy;
  thread.busy = Busy::writing;
  const bool done = put_or_wait(segment, preferred_lane(thread), records, count);
  thread.busy = before;
  return done;
}

template <typename Fixed>
bool put_fixed(SegmentHeader& segment, const Fixed& record) noexcept {
  const Piece piece{&record, sizeof(record)};
  const RecordPieces whole{&piece, 1};
  return put(segment, &whole, 1);
}

// The alloc, and in front of it its stack if the recorder does not know it: both or nothing.
bool put_alloc(SegmentHeader& segment, const AllocRecord& alloc, const RawStack& stack) noexcept {
  if (stack.id == 0 || tables.stacks.contains(stack.id)) {
    return put_fixed(segment, alloc);
  }
  const StackRecord head{.head = {.type = RecordType::stack},
                         .id = stack.id,
                         .native = static_cast<uint16_t>(stack.native),
                         .python = static_cast<uint16_t>(stack.python),
                         .truncated = static_cast<uint16_t>(stack.truncated)};
  const Piece stack_pieces[] = {
      {&head, sizeof(head)},
      {stack.native_frames, stack.native * sizeof(stack.native_frames[0])},
      {stack.python_frames, stack.python * sizeof(stack.python_frames[0])}};
  const Piece alloc_piece{&alloc, sizeof(alloc)};
  const RecordPieces records[] = {{stack_pieces, 3}, {&alloc_piece, 1}};
  if (!put(segment, records, 2)) {
    return false;
  }
  tables.stacks.insert(stack.id);
  return true;
}

// Enters the block into the set of sampled ones, so that its end is seen.
bool remember(uint64_t address) noexcept {
  if (!tables.blocks.insert(address)) {
    return false;
  }
  tables.second_filter.add(address);
  tables.filter.add(address);
  return true;
}

bool forget(uint64_t address) noexcept {
  if (tables.second_filter.at(tables.second_filter.index(address)) == 0 ||
      !tables.blocks.remove(address)) {
    return false;
  }
  tables.second_filter.remove(address);
  tables.filter.remove(address);
  return true;
}

// `interval_log2` 0: every block.
[[gnu::noinline]] void record_alloc(BlockKind kind, const void* block, size_t bytes, Site site,
                                    uint32_t interval_log2) noexcept {
  SegmentHeader* segment = current_segment();
  if (segment == nullptr) {
    return;
  }
  // Not initialised as a whole: its 3 KB would cost more than the walk.
  alignas(RawStack) unsigned char storage[sizeof(RawStack)];
  RawStack& stack = *reinterpret_cast<RawStack*>(storage);
  stack.id = 0;
  stack.native = stack.python = stack.truncated = 0;
  capture_stack(stack, site.caller, site.frame);
  segment->samples.fetch_add(1, std::memory_order_relaxed);
  const auto address = reinterpret_cast<uint64_t>(block);
  const AllocRecord alloc{.head = {.type = RecordType::alloc,
                                   .kind = static_cast<uint8_t>(kind),
                                   .note = static_cast<uint16_t>(interval_log2)},
                          .address = address,
                          .bytes = bytes,
                          .stack = stack.id,
                          .stamp = trace_stamp()};
  const bool remembered = interval_log2 == 0 || remember(address);
  if (!remembered || !put_alloc(*segment, alloc, stack)) {
    segment->dropped_allocs.fetch_add(1, std::memory_order_relaxed);
    if (remembered && interval_log2 != 0) {
      forget(address);
    }
  }
  if (account_wanted(*segment)) {
    answer_account(*segment);
  }
}

void sample(ThreadState& thread, BlockKind kind, const void* block, size_t bytes,
            Site site) noexcept {
  const uint32_t interval_log2 = process.interval_log2.load(std::memory_order_relaxed);
  if (thread.random == 0) {
    // First allocation of the thread: the countdown meant nothing yet.
    thread.random = (trace_stamp() ^ reinterpret_cast<uint64_t>(&thread)) * 0x9e3779b97f4a7c15 | 1;
    next_random(thread.random);
    thread.countdown = draw_distance(thread.random, interval_log2);
    thread.countdown -= static_cast<int64_t>(bytes);
    if (thread.countdown >= 0) {
      return;
    }
  }
  thread.countdown = draw_distance(thread.random, interval_log2);
  if (block == nullptr) {
    return;
  }
  record_alloc(kind, block, bytes, site, interval_log2);
  if (SegmentHeader* segment = process.segment.load(std::memory_order_relaxed)) {
    make_room_for_samples(*segment);
  }
}

// A signal handler allocated while this thread held a lane. There are other lanes, but no stack.
void note_alloc_in_handler(BlockKind kind, const void* block, size_t bytes) noexcept {
  if (process.mode.load(std::memory_order_relaxed) != Mode::exact || block == nullptr) {
    return;
  }
  SegmentHeader* segment = current_segment();
  if (segment == nullptr) {
    return;
  }
  segment->samples.fetch_add(1, std::memory_order_relaxed);
  if (!put_fixed(*segment, AllocRecord{.head = {.type = RecordType::alloc,
                                                .kind = static_cast<uint8_t>(kind)},
                                       .address = reinterpret_cast<uint64_t>(block),
                                       .bytes = bytes,
                                       .stamp = trace_stamp()})) {
    segment->dropped_allocs.fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace

void note_alloc(BlockKind kind, const void* block, size_t bytes, Site site) noexcept {
  ThreadState& thread = thread_state;
  if (thread.busy != Busy::idle) {
    if (thread.busy == Busy::writing) {
      note_alloc_in_handler(kind, block, bytes);
    }
    return;
  }
  const Occupied occupied;
  switch (configure()) {
    case Mode::unset:
      thread.countdown = 0;
      return;
    case Mode::off:
      thread.countdown = kRecheckBytes;
      return;
    case Mode::sampled:
      sample(thread, kind, block, bytes, site);
      return;
    case Mode::exact:
      thread.countdown = -1;
      if (block != nullptr) {
        record_alloc(kind, block, bytes, site, 0);
      }
      return;
  }
}

PendingFree begin_free(const void* block) noexcept {
  const auto address = reinterpret_cast<uint64_t>(block);
  // Frees inside a real allocator function are its own business: the outer call is told.
  if (address == 0 || thread_state.within == Within::allocator) {
    return {};
  }
  const Mode mode = process.mode.load(std::memory_order_relaxed);
  if (mode == Mode::exact || (mode == Mode::sampled && forget(address))) {
    return {.address = address, .stamp = trace_stamp()};
  }
  return {};
}

void finish_free(PendingFree pending) noexcept {
  // A child that has no segment yet knows none of its blocks: they are inherited.
  if (pending.address == 0 || tables.owner.load(std::memory_order_acquire) <= kSettingUp) {
    return;
  }
  SegmentHeader& segment = *process.segment.load(std::memory_order_relaxed);
  if (!put_fixed(segment, FreeRecord{.head = {.type = RecordType::free},
                                     .address = pending.address,
                                     .stamp = pending.stamp})) {
    segment.dropped_frees.fetch_add(1, std::memory_order_relaxed);
  }
}

void undo_free(PendingFree pending) noexcept {
  if (pending.address != 0 && process.mode.load(std::memory_order_relaxed) == Mode::sampled &&
      !remember(pending.address)) {
    finish_free(pending);
  }
}

void note_free(const void* block) noexcept {
  finish_free(begin_free(block));
}

bool mappings_wanted() noexcept {
  if (thread_state.busy != Busy::idle || thread_state.within != Within::program) {
    return false;
  }
  const Mode mode = process.mode.load(std::memory_order_relaxed);
  return mode != Mode::off;
}

void note_mapping(BlockKind kind, const void* begin, size_t bytes, Site site) noexcept {
  const Occupied occupied;
  if (const Mode mode = configure(); mode == Mode::off || mode == Mode::unset) {
    return;
  }
  tables.mappings.insert(reinterpret_cast<uint64_t>(begin));
  record_alloc(kind, begin, bytes, site, 0);
}

void note_unmapping(const void* begin, size_t bytes, uint64_t stamp) noexcept {
  if (tables.owner.load(std::memory_order_acquire) <= kSettingUp) {
    return;
  }
  SegmentHeader& segment = *process.segment.load(std::memory_order_relaxed);
  if (!put_fixed(segment, UnmapRecord{.head = {.type = RecordType::unmap},
                                      .address = reinterpret_cast<uint64_t>(begin),
                                      .bytes = bytes,
                                      .stamp = stamp})) {
    segment.dropped_frees.fetch_add(1, std::memory_order_relaxed);
  }
}

bool forget_mapping(const void* begin) noexcept {
  return tables.mappings.remove(reinterpret_cast<uint64_t>(begin));
}

}  // namespace plateau::trace
