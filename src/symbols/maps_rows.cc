// SPDX-License-Identifier: Apache-2.0
#include "symbols/maps_rows.h"

#include <optional>

#include "base/proc_fields.h"

namespace plateau {
namespace {

constexpr std::string_view kDeleted = " (deleted)";

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
  const auto split = split_maps_line(line);
  const size_t path_at = split ? split->name.find('/') : std::string_view::npos;
  if (path_at == std::string_view::npos || !split->offset || split->inode == 0) return std::nullopt;
  std::string_view path = split->name.substr(path_at);
  const bool deleted = path.ends_with(kDeleted);
  if (deleted) path.remove_suffix(kDeleted.size());
  return MapsRow{.begin = split->begin,
                 .end = split->end,
                 .offset = *split->offset,
                 .inode = split->inode,
                 .device = std::string(split->device),
                 .path = unescaped(path),
                 .executable = split->perms.find('x') != std::string_view::npos,
                 .deleted = deleted};
}

}  // namespace

std::vector<MapsRow> parse_maps_rows(std::string_view maps) {
  std::vector<MapsRow> rows;
  while (!maps.empty()) {
    if (auto row = parse_row(take_line(maps))) rows.push_back(std::move(*row));
  }
  return rows;
}

}  // namespace plateau
