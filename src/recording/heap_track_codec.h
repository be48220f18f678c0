// SPDX-License-Identifier: Apache-2.0
// What the two sides of a track's encoding share: units, limits, and the guess at the next cell.
// docs/formats/recording.md has the bytes. Internal to the room.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "recording/heap_track.h"

namespace plateau {

inline constexpr uint8_t kHeapTrackVersion = 2;  // Version 1 has no totals.
inline constexpr size_t kMaxTrackPlainBytes = size_t{16} << 20;
inline constexpr size_t kMaxLineTableTotalBytes = size_t{4} << 20;  // Later ones are left out.
inline constexpr size_t kMaxTrackCodes = size_t{1} << 16;
inline constexpr size_t kMaxTrackModules = size_t{1} << 16;
inline constexpr size_t kMaxTrackStacks = size_t{1} << 14;
inline constexpr size_t kMaxStackFrames = 512;                // Native or Python, of one stack.
inline constexpr size_t kMaxTrackFrames = size_t{1} << 19;    // Of all stacks together.
inline constexpr int64_t kMaxTrackUnits = int64_t{1} << 62;   // Of any number below.
inline constexpr int64_t kMaxTrackTimeMs = int64_t{1} << 50;  // As of any row.
inline constexpr unsigned kMaxByteShift = 20;
inline constexpr unsigned kMaxBlockShift = 8;

// Bytes are counted in units of 2^byte_shift bytes, blocks in units of 2^-block_shift blocks. An
// exact track counts both in ones. In a sampled one a single sample stands for about
// interval_bytes, so a unit of a thousandth of that is far below the error of any sum.
struct HeapUnits {
  unsigned byte_shift = 0;
  unsigned block_shift = 0;

  [[nodiscard]] int64_t of_bytes(double bytes) const {
    return whole(std::ldexp(bytes, -shift(byte_shift)));
  }
  [[nodiscard]] int64_t of_blocks(double blocks) const {
    return whole(std::ldexp(blocks, shift(block_shift)));
  }
  [[nodiscard]] double bytes(int64_t units) const {
    return std::ldexp(static_cast<double>(units), shift(byte_shift));
  }
  [[nodiscard]] double blocks(int64_t units) const {
    return std::ldexp(static_cast<double>(units), -shift(block_shift));
  }

  // Never below 0, and 0 for what is no number.
  static int64_t whole(double value) {
    if (!(value > 0)) return 0;
    if (value >= static_cast<double>(kMaxTrackUnits)) return kMaxTrackUnits;
    return std::llround(value);
  }

 private:
  static int shift(unsigned bits) { return static_cast<int>(bits); }
};

inline HeapUnits units_of(const HeapTrack& track) {
  HeapUnits units;
  if (track.exact) return units;
  units.block_shift = 4;
  const int log = track.interval_bytes >= 1 ? std::ilogb(track.interval_bytes) : 0;
  units.byte_shift =
      static_cast<unsigned>(std::clamp(log - 10, 0, static_cast<int>(kMaxByteShift)));
  return units;
}

// What the track says it unpacks to; 0 if it does not say.
size_t heap_track_plain_bytes(std::string_view bytes);

// Live units of one site at one row.
struct CellUnits {
  int64_t bytes = 0;
  int64_t blocks = 0;
};

// Bytes that `blocks` would hold if blocks were as large as at the row before: a site that asks for
// one size all the time is guessed exactly.
inline int64_t guessed_bytes(const CellUnits& before, int64_t blocks) {
  if (before.blocks == 0 || blocks == before.blocks) return blocks == 0 ? 0 : before.bytes;
  return HeapUnits::whole(static_cast<double>(before.bytes) * static_cast<double>(blocks) /
                          static_cast<double>(before.blocks));
}

}  // namespace plateau
