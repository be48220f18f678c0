// SPDX-License-Identifier: Apache-2.0
// Puts records into the segment of this process. Any thread, any moment; never allocates, waits
// only as patience.h says. A record that cannot be placed is dropped, counted, and false returned.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tracer/segment.h"

namespace plateau::trace {

// A run of bytes of a record; records are gathered from several.
struct Piece {
  const void* bytes = nullptr;
  size_t count = 0;
};

// `pieces` together are one record whose first piece begins with its RecordHead; RecordHead::words
// is computed here, and the end is padded with zeros to whole words.
bool put_record(const Piece* pieces, size_t count) noexcept;

}  // namespace plateau::trace
