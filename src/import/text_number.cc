// SPDX-License-Identifier: Apache-2.0
#include "import/text_number.h"

#include <charconv>
#include <cmath>

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

}  // namespace

LineNumber read_number(std::string_view line, size_t at) {
  LineNumber number;
  const size_t start = at;
  double value = 0;
  for (; at < line.size(); ++at) {
    if (is_digit(line[at])) {
      value = value * 10 + (line[at] - '0');
    } else if (at - start > 3 && line[at] == ',') {
      break;  // 1000,200: the first group is too long for a separated number.
    } else if (!splits_thousands(line, at)) {
      break;
    }
  }
  if (at + 1 < line.size() && line[at] == '.' && is_digit(line[at + 1])) {
    number.whole = false;
    double scale = 1;
    for (++at; at < line.size() && is_digit(line[at]); ++at) {
      if (scale < 1e15) {
        value = value * 10 + (line[at] - '0');
        scale *= 10;
      }
    }
    value /= scale;
    number.garbled = at + 1 < line.size() && line[at] == '.' && is_digit(line[at + 1]);
  }
  if (has_exponent(line, at)) {
    number.whole = false;
    size_t end = at + (is_digit(line[at + 1]) ? 1 : 2);
    int exponent = 0;
    for (; end < line.size() && is_digit(line[end]); ++end) {
      if (exponent < 1000) exponent = exponent * 10 + (line[end] - '0');
    }
    value *= std::pow(10.0, line[at + 1] == '-' ? -exponent : exponent);
    at = end;
  }
  number.value = value;
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
    case 'k': return base / 1e6;
    case 'm': return base * base / 1e6;
    case 'g': return base * base * base / 1e6;
    case 't': return base * base * base * base / 1e6;
    default: return 0;
  }
}

}  // namespace plateau
