// SPDX-License-Identifier: Apache-2.0
#include "import/text_number.h"

#include <charconv>
#include <cstdint>
#include <limits>

#include "base/text.h"

namespace plateau {
namespace {

constexpr double kKi = 1024.0;

// A separator at `p` splits thousands if exactly three digits follow it.
bool splits_thousands(const char* p) {
  return is_digit(p[1]) && is_digit(p[2]) && is_digit(p[3]) && !is_digit(p[4]);
}

bool has_exponent(const char* p) {
  if ((*p | 0x20) != 'e') return false;
  return is_digit(p[1]) || ((p[1] == '+' || p[1] == '-') && is_digit(p[2]));
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
  const char* const start = line.data() + at;
  const char* p = start;
  uint64_t digits = 0;
  for (;; ++p) {
    while (is_digit(*p)) digits = digits * 10 + static_cast<uint64_t>(*p++ - '0');
    if ((*p != ',' && *p != '\'') || (p - start > 3 && !number.grouped) || !splits_thousands(p)) {
      break;  // 1000,200: the first group is too long for a separated number.
    }
    number.grouped = true;
  }
  // Whole numbers up to here are exact.
  if (p - start > 18) return read_long_number(line, at);
  number.value = static_cast<double>(digits);
  number.end = static_cast<size_t>(p - line.data());
  const bool fraction = *p == '.' && is_digit(p[1]);
  if (!fraction && !has_exponent(p)) return number;
  if (!number.grouped) return read_long_number(line, at);
  // from_chars does not know groups; a fraction behind them is all that is left to read.
  double scale = 0.1;
  for (++p; is_digit(*p); ++p, scale /= 10) number.value += scale * (*p - '0');
  number.whole = false;
  number.end = static_cast<size_t>(p - line.data());
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
  const size_t power = std::string_view("kmgt").find(ascii_lower(word[0]));
  if (power == std::string_view::npos) return 0;
  double unit = base;
  for (size_t i = 0; i < power; ++i) unit *= base;
  return unit / 1e6;
}

}  // namespace plateau
