// SPDX-License-Identifier: Apache-2.0
#include "import/text_number.h"

#include <charconv>
#include <cstdint>
#include <limits>

#include "base/text.h"

namespace plateau {
namespace {

constexpr double kKi = 1024.0;

// A separator at `at` splits thousands if exactly three digits follow it.
bool splits_thousands(std::string_view line, size_t at) {
  if (at + 3 >= line.size() || (line[at] != ',' && line[at] != '\'')) return false;
  for (size_t i = 1; i <= 3; ++i) {
    if (!is_digit(line[at + i])) return false;
  }
  return at + 4 >= line.size() || !is_digit(line[at + 4]);
}

bool has_exponent(std::string_view line, size_t at) {
  if (at + 1 >= line.size() || (line[at] != 'e' && line[at] != 'E')) return false;
  if (is_digit(line[at + 1])) return true;
  return at + 2 < line.size() && (line[at + 1] == '+' || line[at + 1] == '-') &&
         is_digit(line[at + 2]);
}

// A number with a fraction, an exponent or many digits.
LineNumber read_long_number(std::string_view line, size_t at) {
  LineNumber number;
  const char* end = line.data() + line.size();
  const auto parsed = std::from_chars(line.data() + at, end, number.value);
  number.end = static_cast<size_t>(parsed.ptr - line.data());
  if (parsed.ec == std::errc::result_out_of_range) {
    number.value = std::numeric_limits<double>::infinity();
  }
  number.whole = false;
  number.garbled =
      number.end + 1 < line.size() && line[number.end] == '.' && is_digit(line[number.end + 1]);
  return number;
}

}  // namespace

LineNumber read_number(std::string_view line, size_t at) {
  LineNumber number;
  const size_t start = at;
  const size_t size = line.size();
  // Whole numbers are exact; past 19 digits the double below takes over.
  uint64_t digits = 0;
  for (; at < size; ++at) {
    if (is_digit(line[at])) {
      if (at - start >= 18) return read_long_number(line, start);
      digits = digits * 10 + static_cast<uint64_t>(line[at] - '0');
    } else if ((line[at] != ',' && line[at] != '\'') || (at - start > 3 && !number.grouped) ||
               !splits_thousands(line, at)) {
      break;  // 1000,200: the first group is too long for a separated number.
    } else {
      number.grouped = true;
    }
  }
  number.value = static_cast<double>(digits);
  number.end = at;
  if (at + 1 >= size) return number;
  const bool fraction = line[at] == '.' && is_digit(line[at + 1]);
  if (!fraction && !has_exponent(line, at)) return number;
  if (!number.grouped) return read_long_number(line, start);
  // from_chars does not know groups; a fraction behind them is all that is left to read.
  double scale = 0.1;
  for (++at; at < size && is_digit(line[at]); ++at, scale /= 10) {
    number.value += scale * (line[at] - '0');
  }
  number.whole = false;
  number.end = at;
  return number;
}

double unit_of_word(std::string_view word) {
  if (word.empty() || word.size() > 3) {
    if (equal_ignoring_case(word, "bytes") || equal_ignoring_case(word, "byte")) return 1e-6;
    return 0;
  }
  const bool bytes = ascii_lower(word.back()) == 'b';
  if (word.size() == 1 && bytes) return 1e-6;
  const bool binary = word.size() == 1 || ascii_lower(word[1]) == 'i';
  const size_t expected = 1 + (binary && word.size() > 1 ? 1 : 0) + (bytes ? 1 : 0);
  if (word.size() != expected || (word.size() == 2 && !bytes && !binary)) return 0;
  const double base = binary ? kKi : 1000.0;
  switch (ascii_lower(word[0])) {
    case 'k':
      return base / 1e6;
    case 'm':
      return base * base / 1e6;
    case 'g':
      return base * base * base / 1e6;
    case 't':
      return base * base * base * base / 1e6;
    default:
      return 0;
  }
}

}  // namespace plateau
