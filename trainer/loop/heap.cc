// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/heap.h"

#include <malloc.h>

namespace plateau::train {
namespace {

constexpr int kMappedBytes = 256 * 1024;
constexpr int kTrimBytes = 4 * 1024 * 1024;  // Free at the top before it goes back.
constexpr int kArenas = 2;

}  // namespace

void map_large_blocks() {
  ::mallopt(M_MMAP_THRESHOLD, kMappedBytes);
  ::mallopt(M_TRIM_THRESHOLD, kTrimBytes);
  ::mallopt(M_ARENA_MAX, kArenas);
}

void trim_heap() {
  ::malloc_trim(0);
}

}  // namespace plateau::train
