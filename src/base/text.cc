// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace plateau {
namespace {

template <typename T>
std::optional<T> parse_whole(std::string_view text) {
  text = trim(text);
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  T value{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

// "88.875": up to fifteen digits and a point are a whole number and a power of ten, both of which a
// double holds, so that their quotient is the nearest double, as the standard library's is.
std::optional<double> parse_plain_decimal(std::string_view text) {
  static constexpr double kPowers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                       1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  constexpr size_t kMostDigits = 15;
  if (text.empty() || text.size() > kMostDigits + 1) return std::nullopt;
  uint64_t digits = 0;
  size_t count = 0;
  size_t point = text.size();
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.' && point == text.size() && count > 0) {
      point = i;
      continue;
    }
    if (!is_digit(c)) return std::nullopt;
    digits = digits * 10 + static_cast<uint64_t>(c - '0');
    ++count;
  }
  const size_t behind = point == text.size() ? 0 : text.size() - point - 1;
  if (count > kMostDigits || (point != text.size() && behind == 0)) return std::nullopt;
  return static_cast<double>(digits) / kPowers[behind];
}

}  // namespace

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

bool lists(std::string_view list, std::string_view separator, std::string_view item) {
  for (size_t at = 0; at <= list.size();) {
    const size_t end = std::min(list.find(separator, at), list.size());
    if (list.substr(at, end - at) == item) return true;
    at = end + separator.size();
  }
  return false;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (ascii_lower(a[i]) != ascii_lower(b[i])) return false;
  }
  return true;
}

size_t find_ignoring_case(std::string_view text, std::string_view needle, size_t from) {
  if (needle.size() > text.size()) return std::string_view::npos;
  for (size_t at = from; at + needle.size() <= text.size(); ++at) {
    if (equal_ignoring_case(text.substr(at, needle.size()), needle)) return at;
  }
  return std::string_view::npos;
}

std::optional<double> parse_double(std::string_view text) {
  if (const auto plain = parse_plain_decimal(text)) return plain;
  return parse_whole<double>(text);
}

std::optional<int64_t> parse_int(std::string_view text) {
  return parse_whole<int64_t>(text);
}

std::optional<uint64_t> parse_digits(std::string_view digits, int base) {
  uint64_t value = 0;
  const char* begin = digits.data();
  const char* end = begin + digits.size();
  const auto parsed = std::from_chars(begin, end, value, base);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return value;
}

std::string_view next_word(std::string_view& rest) {
  rest = trim(rest);
  size_t end = 0;
  while (end < rest.size() && !is_space(rest[end])) ++end;
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(end);
  return word;
}

std::string_view take_part(std::string_view& rest, char separator) {
  const std::string_view part = rest.substr(0, rest.find(separator));
  rest.remove_prefix(std::min(part.size() + 1, rest.size()));
  return part;
}

}  // namespace plateau
