// SPDX-License-Identifier: Apache-2.0
// What became of the processes of a job, in numbers.
#pragma once

#include <cstdint>

namespace plateau {

struct HeapCounts {
  uint64_t segments_seen = 0;  // 0: no process was sampled, or could load the tracer.
  uint64_t forgotten = 0;      // Ended ones whose track was given up for those of larger ones.
  uint64_t cramped = 0;        // Those that had room for small rings only,
  uint64_t untraced = 0;       // and such that had none.
  uint64_t silent = 0;         // Children that a sandbox kept from being traced.
};

}  // namespace plateau
