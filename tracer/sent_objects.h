// SPDX-License-Identifier: Apache-2.0
// What the recorder was told about objects, word for word, so that a new segment can be told it
// again without a look at the objects.
//
// Question: a forked child writes to a segment of its own, whose reader knows nothing. Its parent
// has learned the unwind rules of all code that matters (unwind.cc) and told about the objects.
// Can the child go on from there?
//
// Method. The rules stay, and the records are sent once more, from the copies kept here. Learning
// the rules anew instead writes to pages that parent and child share, a page fault for each, and
// is a third of what a fork pays for being traced. The objects themselves are not looked at: while
// the parent forked, another of its threads may have been unloading one, and the child keeps that
// half-way state for ever. The loader then still lists an object whose memory is gone.
//
// Worked number: a shell with five objects keeps 700 bytes; its child reads them and writes none.
//
// Blind spot. The copies are all or nothing: beyond kSentBytes, or where two threads are here at
// once, or one was while the process forked, the child learns everything anew.
#pragma once

#include <cstddef>

#include "tracer/lane_writer.h"

namespace plateau::trace {

inline constexpr size_t kSentBytes = size_t{128} * 1024;  // Some 900 objects; touched as used.

// Keeps one record of an object: pieces as for put_record(). Any thread, no waiting.
void keep_sent(const Piece* pieces, size_t count) noexcept;

// Code may be unloaded from here on, or was: what is kept is void.
void forget_sent() noexcept;

// Sends all that is kept. False, having sent a part of it or nothing, if that is not all there is.
bool send_again() noexcept;

}  // namespace plateau::trace
