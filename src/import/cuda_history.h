// SPDX-License-Identifier: Apache-2.0
// The history of a device's allocator, played through: memory over time, in all and by call stack.
//
// The clock is work: the events of all devices, counted in the order of their times. A program that
// waits allocates nothing, and a step of the training is a number of events that hardly changes;
// seconds would mix both with how fast the machine is. Times are kept beside it.
//
// The question is whether what stays grows. Within a training step memory rises with the
// activations and falls again, so the history is cut into windows of equal length and of each the
// lowest and the highest moment are kept. A window without an event has the level of the one
// before.
//
// Call stacks are looked at in the lowest moments, of windows long enough for a whole step: they
// are made twice as long until the lowest moments of neighbours differ by less than a twentieth of
// the range of it all. Shorter ones would show activations as growth.
//
// Before the first event. The history is a ring: it may begin long after the program. A block that
// is freed without having been allocated in it was alive before, and so was one that is alive at
// the end without an event of its own. The first has no stack, the second has the one that the
// snapshot gives.
//
// Worked case: blocks A of 10 MB and B of 20 MB alive at the end; events: alloc A, free C of 5 MB.
// At the start B and C were alive, 25 MB; after A 35, after C 30.
//
// Blind spot: a block that was allocated before and is freed and given to another within a single
// window, at the same address and without events of its own, cannot be seen; torch records all.
#pragma once

#include <cstddef>
#include <vector>

#include "import/cuda_events.h"
#include "recording/heap_track.h"

namespace plateau {

// Where windows stand, in events: of all devices in the order of their times where every event has
// one, else of each device by itself.
struct CudaClock {
  bool timed = false;
  double begin = 0;
  double end = 0;
  std::vector<double> times_us;  // Of all events, in order; empty without times.

  // When an event of a device happened, in events.
  [[nodiscard]] double moment(const CudaEvent& event, size_t index) const;
  // Seconds since 1970 of a moment. Requires: timed.
  [[nodiscard]] double time_s(double moment) const;
  // The window of `count` equal ones in which a moment lies.
  [[nodiscard]] size_t window(double at, size_t count) const;
};

struct CudaWindow {
  double low_bytes = 0;
  double high_bytes = 0;
  double reserved_bytes = 0;  // At its end.
  size_t ooms = 0;            // Allocations that failed.
};

struct CudaHistory {
  std::vector<CudaWindow> windows;
  HeapTrack track;           // Sites are the call stacks with the most alive.
  double before_bytes = 0;   // Alive at the beginning,
  double unknown_bytes = 0;  // and of that without a call stack.
};

CudaClock clock_of(const CudaSnapshot& snapshot);

// Requires: at least one window, at most 2^20.
CudaHistory play_history(const CudaDevice& device, const CudaStacks& stacks, const CudaClock& clock,
                         size_t windows);

}  // namespace plateau
