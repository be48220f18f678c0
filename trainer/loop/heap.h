// SPDX-License-Identifier: Apache-2.0
// How the C library's heap behaves in the trainer: what is freed goes back to the system.
//
// Left alone, glibc raises the size from which blocks are mapped up to 32 MB, as soon as one such
// block is freed, gives every thread an arena, and keeps what lies below the top of each.
#pragma once

namespace plateau::train {

// Blocks from 256 kB on are mapped one by one and unmapped when freed; at most two arenas. For the
// rest of the process; call it before threads are started.
void map_large_blocks();

// Gives back what is free now: after the model was loaded, and where --cleanup-every asks.
void trim_heap();

}  // namespace plateau::train
