// SPDX-License-Identifier: Apache-2.0
// Back pressure: where every block counts, a writer that finds the lanes full waits for the
// recorder instead of dropping, within bounds.
//
// The recorder frees a piece of 64 KB at a time, so a wait is short as long as it reads: below a
// millisecond as a rule. If it has not read for about 100 ms it is stopped, starved or dead. Then
// the record is dropped and counted, and nobody waits again before it has read on: a dead recorder
// costs a program 100 ms in each of the threads that were waiting, once. No wait is longer than
// about 2 s. In a sandbox, where a thread must not even sleep, it looks again and again instead.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tracer/lanes.h"
#include "tracer/segment.h"

namespace plateau::trace {

// As put_into(), but waits for room if the process records every block.
bool put_or_wait(SegmentHeader& segment, uint32_t first_lane, const RecordPieces* records,
                 size_t count) noexcept;

// There is a new recorder.
void lose_patience_no_more() noexcept;

}  // namespace plateau::trace
