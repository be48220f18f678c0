// SPDX-License-Identifier: Apache-2.0
#include "symbols/maps_rows.h"

#include <charconv>
#include <optional>

#include "base/text.h"

namespace plateau {
namespace {

constexpr std::string_view kDeleted = " (deleted)";

std::optional<uint64_t> number(std::string_view digits, int base) {
  uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

// The kernel writes a line end inside a path as "\012".
std::string unescaped(std::string_view path) {
  std::string plain;
  for (size_t i = 0; i < path.size(); ++i) {
    if (path.substr(i, 4) == "\\012") {
      plain += '\n';
      i += 3;
    } else {
      plain += path[i];
    }
  }
  return plain;
}

std::optional<MapsRow> parse_row(std::string_view line) {
  const std::string_view range = next_word(line);
  const std::string_view permissions = next_word(line);
  const auto offset = number(next_word(line), 16);
  const std::string_view device = next_word(line);
  const auto inode = number(next_word(line), 10);
  const size_t dash = range.find('-');
  const size_t path_at = line.find('/');
  if (dash == std::string_view::npos || path_at == std::string_view::npos) return std::nullopt;
  const auto begin = number(range.substr(0, dash), 16);
  const auto end = number(range.substr(dash + 1), 16);
  if (!begin || !end || *end <= *begin || !offset || !inode || *inode == 0) return std::nullopt;
  std::string_view path = line.substr(path_at);
  const bool deleted = path.ends_with(kDeleted);
  if (deleted) path.remove_suffix(kDeleted.size());
  return MapsRow{.begin = *begin,
                 .end = *end,
                 .offset = *offset,
                 .inode = *inode,
                 .device = std::string(device),
                 .path = unescaped(path),
                 .executable = permissions.find('x') != std::string_view::npos,
                 .deleted = deleted};
}

}  // namespace

std::vector<MapsRow> parse_maps_rows(std::string_view maps) {
  std::vector<MapsRow> rows;
  while (!maps.empty()) {
    const size_t end = std::min(maps.find('\n'), maps.size());
    if (auto row = parse_row(maps.substr(0, end))) rows.push_back(std::move(*row));
    maps.remove_prefix(std::min(end + 1, maps.size()));
  }
  return rows;
}

}  // namespace plateau
