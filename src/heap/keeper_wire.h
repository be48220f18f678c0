// SPDX-License-Identifier: Apache-2.0
// What a Keeper and its process say to each other, over a pair of packet sockets. Both ends are the
// same program, so the layout is that of the structs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "heap/heap_counts.h"

namespace plateau {

enum class KeeperAsk : uint32_t { step, row, tracks };

struct KeeperRequest {
  KeeperAsk ask = KeeperAsk::step;
  uint32_t number = 0;  // Of a tracks request; its answers carry it.
  uint64_t stamp = 0;   // trace_stamp() when it was sent.
  int64_t step = -1;
  double time_s = 0;
};

// A piece of one track; its bytes follow. The answer to a request ends with `last`, a piece without
// a track.
struct KeeperPiece {
  uint32_t number = 0;
  uint32_t last = 0;
  int64_t pid = 0;
  HeapCounts counts;
};
inline constexpr size_t kMaxPieceBytes = size_t{48} * 1024;

}  // namespace plateau
