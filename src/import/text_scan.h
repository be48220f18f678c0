// SPDX-License-Identifier: Apache-2.0
// Reads one line of a text log: which step, what time, which amounts of memory.
//
// The line is walked once, left to right. Words set bits (see words.h) that wait for a number;
// a comma, a semicolon, a bar or a figure that used them makes a fresh start. A number is judged by
// what stands on both sides of it:
//
//   Step 20: 6529 tensors (CPU: 330, GPU: 6199), RAM: 7,159 MB  (+1,607 MB)
//   step^20  tensors^6529      ^330        ^6199  ram^7159 MB     signed: a change, not a value
//
// What is not a value: signed numbers, percentages, rates ("MB/s", "MB per step"), ranges
// ("10-80"), the second half of "5.4/32 GB", versions, numbers glued to letters, amounts under
// peak, max, total, free and the like. A figure without a key counts only outside round brackets.
//
// Blind spot: a log that prints a bare change without a sign ("grew by 5 MB" is caught by its word,
// "5 MB" alone is not), and amounts of other things than memory whose words are not in the table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "import/timestamp.h"
#include "import/words.h"
#include "recording/run.h"

namespace plateau {

// Where in the line a number stands that was taken; kNoPlace if none was.
using Place = uint32_t;
inline constexpr Place kNoPlace = static_cast<Place>(-1);

struct LineFigure {
  double value = 0;
  Place place = kNoPlace;
  double unit_mb = 0;  // 0: the line does not say.
  WordBits bits = 0;   // Of the words before it (or right after it).
  uint32_t key_begin = 0;
  uint32_t key_end = 0;     // The key's place in the line; empty if there is none.
  bool keyed = false;       // A word for memory stands with it.
  bool assigned = false;    // … and only ':' or '=' between them.
  bool bare_rss = false;    // Alone after a time, as `ps -o rss=` prints it.
  bool after_time = false;  // Nothing but a log level between the time and it.
};

enum class StepWord : uint8_t { none, batch, iteration, step };

// What a line says beside its figures.
struct LineFacts {
  StepWord step_word = StepWord::none;
  int64_t step = -1;
  int64_t step_total = 0;  // 250 in "step 120/250".
  int64_t bar_at = -1;     // 83 in "83/250", when no step word claims it.
  int64_t bar_total = 0;
  double epoch = kMissing;
  bool whole_epoch = false;  // "Epoch 2", as against 'epoch': 0.12.
  bool has_time = false;
  Stamp time;
  int64_t rank = -1;
  std::array<double, 3> tensors = {kMissing, kMissing, kMissing};  // In all, on the CPU, on GPUs.
  WordBits words = 0;                                              // All words of the line.
  WordBits free_words = 0;  // Those not joined to others by '_', '.', '=' or a quote.
  bool negative = false;    // A memory key with a negative number.
  bool arrow = false;       // "<-": a note follows, at `note`.
  size_t note = 0;
  size_t count = 0;  // Of figures.

  // For ScanCache: the places of the numbers above, and whether all decisions depended only on
  // which characters of the line are digits, not on which digits they are.
  Place step_place = kNoPlace;
  Place step_total_place = kNoPlace;
  Place epoch_place = kNoPlace;
  Place rank_place = kNoPlace;
  std::array<Place, 3> tensor_places = {kNoPlace, kNoPlace, kNoPlace};
  Place time_place = kNoPlace;
  bool by_shape = true;
};

struct ScannedLine : LineFacts {
  static constexpr size_t kMaxFigures = 12;

  std::array<LineFigure, kMaxFigures> figures;  // The first `count`.
  std::vector<char> padded;
};

// `line` with zeros around it, valid until the next call with the same `out`.
std::string_view pad_line(std::string_view line, ScannedLine& out);

// Fills `out`, which need not be cleared. Looks at the first 64 KB of the line, of which it keeps a
// copy with zeros around it, so that looking ahead and back needs no checks.
void scan_line(std::string_view line, ScannedLine& out);

}  // namespace plateau
