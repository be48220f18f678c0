// SPDX-License-Identifier: Apache-2.0
// Small questions about text that several rooms ask: trimming, case, numbers.
//
// Everything works on ASCII and leaves other bytes alone, so that mojibake passes through. Nothing
// allocates. Views returned point into the argument.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace plateau {

constexpr char ascii_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
// One subtraction and one comparison each: these run for every byte of a log.
constexpr bool is_digit(char c) {
  return static_cast<unsigned char>(c - '0') < 10;
}
constexpr bool is_letter(char c) {
  return static_cast<unsigned char>((c | 0x20) - 'a') < 26;
}
constexpr bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

// Without spaces, tabs and line ends at both ends.
std::string_view trim(std::string_view text);

// Is `item` among those that `separator` divides in `list`? "a, b" lists "a" and "b".
bool lists(std::string_view list, std::string_view separator, std::string_view item);

bool equal_ignoring_case(std::string_view a, std::string_view b);

// Where `needle` (lower case) occurs in `text` whatever its case; npos if it does not.
size_t find_ignoring_case(std::string_view text, std::string_view needle, size_t from = 0);

// The whole of `text`, spaces around it aside, as a number. Accepts what from_chars does, a leading
// '+', and "nan" and "inf", which callers must judge.
std::optional<double> parse_double(std::string_view text);
std::optional<int64_t> parse_int(std::string_view text);
// Nothing but digits of `base`.
std::optional<uint64_t> parse_digits(std::string_view digits, int base);

// Takes the first space-separated word off `rest`; empty when there is none left.
std::string_view next_word(std::string_view& rest);

// Takes what stands before the first `separator`, or all there is, off the front of `rest`, and the
// separator with it.
std::string_view take_part(std::string_view& rest, char separator);

}  // namespace plateau
