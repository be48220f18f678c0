// SPDX-License-Identifier: Apache-2.0
#include "base/proc_fields.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/text.h"

namespace plateau {

std::string_view take_line(std::string_view& rest) {
  return take_part(rest, '\n');
}

std::optional<uint64_t> take_number(std::string_view& rest) {
  size_t i = 0;
  while (i < rest.size() && (rest[i] == ' ' || rest[i] == '\t')) ++i;
  const size_t begin = i;
  uint64_t value = 0;
  for (; i < rest.size() && is_digit(rest[i]); ++i) {
    const auto digit = static_cast<uint64_t>(rest[i] - '0');
    constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
    value = value > (kMost - digit) / 10 ? kMost : value * 10 + digit;
  }
  if (i == begin) return std::nullopt;
  rest.remove_prefix(i);
  return value;
}

std::string_view field_of(std::string_view bytes, std::string_view key) {
  std::string_view found;
  each_field(bytes, [&](std::string_view name, std::string_view value) {
    if (name != key) return true;
    found = trim(value);
    return false;
  });
  return found;
}

uint64_t number_field(std::string_view bytes, std::string_view key) {
  std::string_view value = field_of(bytes, key);
  return take_number(value).value_or(0);
}

uint64_t bits_field(std::string_view bytes, std::string_view key) {
  const std::string_view value = field_of(bytes, key);
  uint64_t bits = 0;
  const char* begin = value.data();
  const char* end = begin + value.size();
  return std::from_chars(begin, end, bits, 16).ptr == end ? bits : 0;
}

int32_t seccomp_filters(std::string_view status) {
  for (const std::string_view key : {"Seccomp_filters", "Seccomp"}) {
    std::string_view value = field_of(status, key);
    if (const std::optional<uint64_t> number = take_number(value)) {
      return static_cast<int32_t>(*number);
    }
  }
  return -1;
}

std::optional<MapsLine> split_maps_line(std::string_view line) {
  const std::string_view range = next_word(line);
  const size_t dash = std::min(range.find('-'), range.size());
  const auto begin = parse_digits(range.substr(0, dash), 16);
  const auto end = parse_digits(range.substr(std::min(dash + 1, range.size())), 16);
  MapsLine split{.begin = begin.value_or(0), .end = end.value_or(0), .perms = next_word(line)};
  split.offset = parse_digits(next_word(line), 16);
  split.device = next_word(line);
  const auto inode = parse_digits(next_word(line), 10);
  if (!begin || !end || split.begin >= split.end || !inode) return std::nullopt;
  split.inode = *inode;
  split.name = trim(line);
  return split;
}

std::optional<StatLine> split_stat(std::string_view bytes) {
  const auto pid = take_number(bytes);
  if (!pid || bytes.substr(0, 2) != " (") return std::nullopt;
  // The name may hold anything, also ") "; nothing after it holds a parenthesis.
  const size_t close = bytes.rfind(')');
  if (close == std::string_view::npos || close < 2 || close + 3 > bytes.size()) return std::nullopt;
  return StatLine{.pid = *pid,
                  .name = bytes.substr(2, close - 2),
                  .state = bytes[close + 2],
                  .rest = bytes.substr(close + 3)};
}

}  // namespace plateau
