// SPDX-License-Identifier: Apache-2.0
#include "tracer/patience.h"

#include <atomic>

#include "tracer/process.h"
#include "tracer/system_calls.h"

namespace plateau::trace {
namespace {

constexpr long kFirstSleepNs = 100'000;
constexpr long kLongestSleepNs = 1'000'000;  // A ring lasts longer than that.
constexpr long kMostIdleNs = 100'000'000;
constexpr long kMostNs = 2'000'000'000;
constexpr uint32_t kSpins = 1000;
constexpr long kSpinsNs = 30'000;  // About.

// What the recorder had read when a wait was in vain; 0: none was.
constinit std::atomic<uint64_t> given_up_at{0};

// Grows with whatever the recorder reads; never 0.
uint64_t progress(const SegmentHeader& segment) noexcept {
  uint64_t sum = 1;
  for (const Lane& lane : segment.lanes) {
    sum += lane.read.load(std::memory_order_acquire);
  }
  return sum;
}

// How long it took, about.
long pause(long ns) noexcept {
  if (may_call(MayCall::anything)) {
    sys_sleep_ns(ns);
    return ns;
  }
  for (uint32_t i = 0; i < kSpins; ++i) {
#if defined(__x86_64__)
    asm volatile("pause" ::: "memory");
#else
    asm volatile("yield" ::: "memory");
#endif
  }
  return kSpinsNs;
}

[[gnu::noinline, gnu::cold]] bool put_slowly(SegmentHeader& segment, uint32_t first_lane,
                                             const RecordPieces* records, size_t count) noexcept {
  uint64_t last = progress(segment);
  if (given_up_at.load(std::memory_order_relaxed) == last) {
    return false;
  }
  segment.waits.fetch_add(1, std::memory_order_relaxed);
  long sleep_ns = kFirstSleepNs;
  for (long all_ns = 0, idle_ns = 0; all_ns < kMostNs && idle_ns < kMostIdleNs;) {
    const long took_ns = pause(sleep_ns);
    all_ns += took_ns;
    idle_ns += took_ns;
    sleep_ns = sleep_ns < kLongestSleepNs / 2 ? sleep_ns * 2 : kLongestSleepNs;
    if (put_into(segment, first_lane, records, count)) {
      return true;
    }
    if (const uint64_t now = progress(segment); now != last) {
      last = now;
      idle_ns = 0;
    }
  }
  given_up_at.store(last, std::memory_order_relaxed);
  return false;
}

}  // namespace

void lose_patience_no_more() noexcept {
  given_up_at.store(0, std::memory_order_relaxed);
}

bool put_or_wait(SegmentHeader& segment, uint32_t first_lane, const RecordPieces* records,
                 size_t count) noexcept {
  return put_into(segment, first_lane, records, count) ||
         (process.mode.load(std::memory_order_relaxed) == Mode::exact &&
          put_slowly(segment, first_lane, records, count));
}

}  // namespace plateau::trace
