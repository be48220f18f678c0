// SPDX-License-Identifier: Apache-2.0
// One number as a person or a tool wrote it, with what stands right behind it.
//
//   "7,159 MB"   7159, memory      "232,9g"      232.9, memory (decimal comma)
//   "+102644 KB" a change          "3208 KB/it." a rate
//   "92,5 %"     percent           "10,282ms"    a time
//   "1 234 567"  1234567, where the space is a thin or a non-breaking one
//
// A comma between digits is a decimal comma when what follows cannot be a group of three, or when
// the file has shown elsewhere that it writes decimals so (NumberStyle, learned once per file).
// A plain space separates two numbers unless the file has shown groups: "4 005 MB" beside "4 350
// MB". Where one group in ten begins with 0, as in any thousands, they are groups; numbers of a
// column of their own are not written with zeros in front.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace plateau {

struct NumberStyle {
  bool decimal_comma = false;  // "3,995" is 3.995 and not 3995.
  bool comma_cuts = false;     // Commas separate cells: "1,2" are two numbers.
  bool space_groups = false;   // "4 005 MB" is 4005.
};

struct Numeral {
  enum class Unit : uint8_t { none, memory, percent, time, rate, other };

  double value = 0;
  size_t begin = 0;     // Of its sign or first digit,
  size_t end = 0;       // one past its last digit,
  size_t unit_end = 0;  // and one past its unit.
  Unit unit = Unit::none;
  double unit_mb = 0;    // Of memory; else 0.
  double unit_s = 0;     // Of a time that can be a clock; else 0.
  uint8_t decimals = 0;  // Digits behind the point.
  bool has_sign = false;
  bool glued = false;    // To letters before it: "rank0", "v2".
  bool garbled = false;  // A version, an address, "12abc": no number.
  bool plain = false;    // Digits and at most one decimal sign: no groups, no exponent.
};

// Reads the number whose first digit stands at `at`; a sign before it is looked at too.
// Requires: a digit at `at`.
Numeral read_numeral(std::string_view line, size_t at, const NumberStyle& style);

// The value of a number that was read as `known` from a text of the same shape (line_shape.h).
// Requires: known.plain. `text` begins with its sign or its first digit and may go on behind it.
double value_again(std::string_view text, const Numeral& known);

// What the text of a file says about its commas and about spaces within numbers.
class NumberStyleEvidence {
 public:
  void see(std::string_view line);
  [[nodiscard]] NumberStyle style() const;

 private:
  void see_space(std::string_view line, size_t at);

  size_t decimal_commas_ = 0;  // "92,5 ", "232,9g"
  size_t grouped_commas_ = 0;  // "1,234,567"
  size_t points_ = 0;          // "3.14"
  size_t point_groups_ = 0;    // "180.004 KB": a point before three digits and a small unit.
  size_t space_groups_ = 0;    // "4 350 MB"
  size_t zero_groups_ = 0;     // Of these: "4 005 MB".
  size_t space_pairs_ = 0;     // "4 50 MB": two numbers.
};

}  // namespace plateau
