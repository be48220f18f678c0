// SPDX-License-Identifier: Apache-2.0
// Counts what tensors take: bytes and storages alive, peaks, and in which phase of a step.
//
// LibTorch asks one allocator for the memory of every tensor on the CPU; install() puts a counter
// in front of it. Each block gets 64 bytes before it that remember its size and the phase that
// asked for it; blocks from 16 kB on are mapped (block_cache.h). Exact for tensors: views add
// nothing, a clone adds its own bytes. Not seen: memory that a tensor only borrows (mapped
// weights), scratch memory inside oneDNN and BLAS, the nodes of the graph, and everything that is
// no tensor (the 8-bit states, batches).
//
// Any thread may allocate; the phase is one for the process, because one thread trains. Figures of
// different fields may be an allocation apart while other threads work.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "trainer/model/phase.h"

namespace plateau::train {

std::string_view name_of(MemoryPhase phase);

struct TensorMemory {
  int64_t live_bytes = 0;
  int64_t live_storages = 0;
  int64_t peak_bytes = 0;        // Since install().
  int64_t step_peak_bytes = 0;   // Since begin_tracked_step().
  int64_t graph_peak_bytes = 0;  // Of what forward and backward asked for, together.
  int64_t allocations = 0;
  // By the phase that asked for it: what is alive now, and the most that was alive at once.
  std::array<int64_t, kMemoryPhases> peak_by_phase{};
  std::array<int64_t, kMemoryPhases> live_by_phase{};
};

// For the rest of the process; a second call does nothing. Tensors made before are not counted,
// and their end is not either.
void install_memory_tracker();
bool memory_tracker_installed();
TensorMemory tensor_memory();  // All 0 if not installed.
void begin_tracked_step();
// Gives back blocks that are kept for the next tensor: between steps.
void release_kept_blocks();

}  // namespace plateau::train
