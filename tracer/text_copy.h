// SPDX-License-Identifier: Apache-2.0
// Text of fixed-width characters to UTF-8, without a heap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace plateau::trace {

inline size_t put_utf8(uint32_t character, char* out) noexcept {
  const auto byte = [](uint32_t value) { return static_cast<char>(value); };
  if (character < 0x80) {
    out[0] = byte(character);
    return 1;
  }
  if (character < 0x800) {
    out[0] = byte(0xc0 | character >> 6);
    out[1] = byte(0x80 | (character & 0x3f));
    return 2;
  }
  if (character < 0x10000) {
    out[0] = byte(0xe0 | character >> 12);
    out[1] = byte(0x80 | (character >> 6 & 0x3f));
    out[2] = byte(0x80 | (character & 0x3f));
    return 3;
  }
  out[0] = byte(0xf0 | (character >> 18 & 0x07));
  out[1] = byte(0x80 | (character >> 12 & 0x3f));
  out[2] = byte(0x80 | (character >> 6 & 0x3f));
  out[3] = byte(0x80 | (character & 0x3f));
  return 4;
}

// `count` characters of `unit_bytes` (1, 2 or 4) each. Stops before the first character that does
// not fit into `room` bytes; returns the bytes written. Half surrogates (Python's way to carry
// bytes of file names that are no text) become '?'.
inline size_t copy_as_utf8(const char* units, uint64_t count, uint32_t unit_bytes, char* out,
                           size_t room) noexcept {
  if (unit_bytes != 1 && unit_bytes != 2 && unit_bytes != 4) return 0;
  size_t written = 0;
  for (uint64_t i = 0; i < count && room - written >= 4; ++i) {
    uint32_t character = 0;
    memcpy(&character, units + i * unit_bytes, unit_bytes);
    const bool surrogate = character >= 0xd800 && character < 0xe000;
    written += put_utf8(surrogate || character > 0x10ffff ? '?' : character, out + written);
  }
  return written;
}

}  // namespace plateau::trace
