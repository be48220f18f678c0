// SPDX-License-Identifier: Apache-2.0
// The two shapes in which the kernel tells about a process: lines of "Key:  value", as in status,
// smaps and meminfo, and the one line of stat. Bytes in, views into them out; no file is opened.
//
// The bytes are foreign: a process names itself as it likes, and a captured file may be cut off.
// Any bytes are taken without failing harder than "nothing found". Numbers saturate.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

namespace plateau {

// Takes a line off the front of `rest`, without its end.
std::string_view take_line(std::string_view& rest);

// Takes digits off the front of `rest`, after blanks. nullopt: there was no digit.
std::optional<uint64_t> take_number(std::string_view& rest);

// Calls take(key, value) for each "Key:  value" line until it returns false. The value keeps its
// blanks.
template <typename Take>
void each_field(std::string_view bytes, Take take) {
  while (!bytes.empty()) {
    const std::string_view line = take_line(bytes);
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    if (!take(line.substr(0, colon), line.substr(colon + 1))) return;
  }
}

// What follows the first "KEY:", trimmed; empty if there is none.
std::string_view field_of(std::string_view bytes, std::string_view key);

// That as a number ("4711", "12 kB") and as a set of bits ("0000000000000102"); 0 if it is none.
uint64_t number_field(std::string_view bytes, std::string_view key);
uint64_t bits_field(std::string_view bytes, std::string_view key);
// Seccomp filters by a status file, or the mode where the kernel does not count them; -1 if it says
// neither.
int32_t seccomp_filters(std::string_view status);

// A line of maps, or a head in smaps, taken apart: "BEGIN-END PERMS OFFSET DEVICE INODE   NAME".
struct MapsLine {
  uint64_t begin = 0;
  uint64_t end = 0;  // Above `begin`.
  std::string_view perms;
  std::optional<uint64_t> offset;  // In the file.
  std::string_view device;
  uint64_t inode = 0;
  std::string_view name;  // May be empty.
};
std::optional<MapsLine> split_maps_line(std::string_view line);

// "PID (NAME) S 1 2 ...", taken apart.
struct StatLine {
  uint64_t pid = 0;
  std::string_view name;  // At most 15 bytes; may hold spaces, parentheses and line ends.
  char state = '?';
  std::string_view rest;  // From the blank before field 4, the parent, on.

  // Of what still has a pid but runs no more.
  [[nodiscard]] bool ended() const { return state == 'Z' || state == 'X'; }
};
std::optional<StatLine> split_stat(std::string_view bytes);

}  // namespace plateau
