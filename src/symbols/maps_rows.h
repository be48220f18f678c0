// SPDX-License-Identifier: Apache-2.0
// Rows of /proc/PID/maps that stand for files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plateau {

struct MapsRow {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t offset = 0;  // In the file.
  uint64_t inode = 0;
  std::string device;  // "fd:01", as the kernel writes it.
  std::string path;    // Unescaped, without " (deleted)".
  bool executable = false;
  bool deleted = false;
};

// Takes any bytes. Lines without a file, and lines that are not of this form, are left out.
std::vector<MapsRow> parse_maps_rows(std::string_view maps);

}  // namespace plateau
