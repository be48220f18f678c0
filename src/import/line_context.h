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

// "9.10 GB free / 24.00 GB total", "14.6 GiB free of 16 GiB", "812 MB available": where the word
// ends that says right behind an amount that it is what is free; 0 if none does.
size_t end_of_free_behind(std::string_view line, const Numeral& number);

// "1024 MB allocated cumulatively": a count of all that ever was.
bool is_cumulative(std::string_view line, const Numeral& number);

// "9.00GiB/64.00GiB memory": where the capacity ends that follows a number ending at `end`, or
// `end` itself.
size_t behind_capacity(std::string_view line, size_t end, const NumberStyle& style);

// "w0=199M w1=318M": the number that ends at `end`, glued to the word from `begin` on, is a part of
// a name, because an amount follows behind "=" or ":", and the same word with another number
// stands further on.
bool numbers_a_name(std::string_view line, size_t begin, size_t end);
// The same without the need of another one further on.
bool an_amount_follows(std::string_view line, size_t end);

// "RSS(MB) 0:3098 1:3110": the number at `at` that stands where the name of one of several things
// does, because the next number stands so further on; its end. 0 for any other.
// Requires: a digit at `at`.
size_t end_of_place(std::string_view line, size_t at);

// Where a word in letters that are not Latin ends, if one begins at `at`; else `at`. Signs, arrows
// and pictures are no words.
size_t end_of_foreign_word(std::string_view line, size_t at);

// "(1855M wired, 3021M compressor)": what stands in the brackets are figures with words of their
// own.
// Requires: line[at] is the opening bracket.
bool opens_other_figures(std::string_view line, size_t at, const NumberStyle& style);

// "web.1" of "source=web.1", where the word from `begin` to `end` is one for labels; empty if it is
// none, or if the value is a number, which has a column of its own.
std::string_view label_behind(std::string_view line, size_t begin, size_t end);

// What stands between a number that ends at `from` and the next one at `to`, blanks and brackets
// around each aside: "[459mb]->[384mb]/[1007mb]".
std::string_view gap_between(std::string_view line, size_t from, size_t to);

// "120  -  MemoryUsage of job (MB)": where the name that ends at `end` goes on to, which is the
// unit in brackets behind it, if it has one.
size_t end_of_unit_behind(std::string_view line, size_t end);

// Nothing but a number, and its unit, stands in the line.
bool is_lone_number(std::string_view line, const NumberStyle& style);

// What `line` calls the number alone in the next one: all of it, if it holds no number, or what
// ends with a colon. Empty: nothing.
std::string_view names_next_line(std::string_view line, bool words_alone);

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
