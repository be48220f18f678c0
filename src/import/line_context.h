// SPDX-License-Identifier: Apache-2.0
// What stands around a number in text and says what it is: a tag in brackets before it, the same
// figure again in brackets behind it, the heading of the section that its line is in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "import/numeral.h"

namespace plateau {

// "[gc,heap     ]", "[utils.py:783:see_memory_usage]" ending at `at`: a place in a program or the
// tags of a logger, which name nothing behind it.
// Requires: line[at] is the closing bracket.
bool closes_a_tag(std::string_view line, size_t at);

// "307871744 (  293.6 MiB) Actual memory used": the figure in brackets is the number before it in
// another unit. Where the brackets end, and the number's own unit; end 0 if they say another thing.
struct SameInBrackets {
  size_t end = 0;
  double unit_mb = 0;
  bool compared = false;  // An amount stood there: what it says depends on the digits.
};
SameInBrackets same_in_brackets(std::string_view line, const Numeral& number,
                                const NumberStyle& style);

// "2.1 (38.5) MB": the unit behind the brackets is that of both.
void take_unit_behind_brackets(std::string_view line, const NumberStyle& style, Numeral& number);

// An arrow and another number behind it: a chain of readings.
bool arrow_follows(std::string_view line, const Numeral& number);

// "218432/294912 bytes free": what the words behind a pair say of it. Empty if they say nothing.
std::string_view free_behind_pair(std::string_view line, const Numeral& number);

// The section that lines of text are in: "FB Memory Usage" above "    Used : 5120 MiB", "Total
// (incl. mmap):" above "in use bytes = 3005456". A heading has no figure but ends with a colon, or
// is followed by lines that stand further right; it ends at an empty line, at the next heading, and
// at a line as far left as itself. Feed it every line, in order.
class Sections {
 public:
  // `figures`: whether the line holds any.
  void see(std::string_view line, bool figures);
  // The heading over `line`, empty if it has none.
  [[nodiscard]] std::string_view over(std::string_view line) const;

 private:
  static constexpr size_t kLongest = 60;
  std::string heading_;
  size_t indent_ = 0;
  bool colon_ = false;
};

}  // namespace plateau
