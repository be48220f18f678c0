// SPDX-License-Identifier: Apache-2.0
// Numbers and units as log lines write them: "7,159", "1.5e-05", "12.1G", "5552 MB".
#pragma once

#include <cstddef>
#include <string_view>

namespace plateau {

// Values too large for a double are infinite; the caller must judge them.
struct LineNumber {
  double value = 0;
  size_t end = 0;        // One past its last character.
  bool whole = true;     // No fraction, no exponent.
  bool grouped = false;  // Thousands are separated.
  bool garbled = false;  // A version ("1.2.3") or glued to letters: no number at all.
};

// Reads the number at `at`. Thousands may be separated by commas or apostrophes in groups of three.
// Requires: a digit at `at`, and four readable bytes behind `line` that are neither digits nor
// letters (ScannedLine pads its lines so).
LineNumber read_number(std::string_view line, size_t at);

// In MB, for "kB", "MiB", "g" and so on; 0 if the word is no unit of memory.
double unit_of_word(std::string_view word);

}  // namespace plateau
