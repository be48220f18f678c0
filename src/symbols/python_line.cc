// SPDX-License-Identifier: Apache-2.0
// From an offset in bytecode to a line of source, as each CPython writes it down.
//
// Three codings of the same map. 3.8 and 3.9 (co_lnotab): pairs of how far the offset and the line
// advance. 3.10 (co_linetable): pairs of the length of a range and the change of line at its begin,
// where -128 stands for "no line". 3.11 on: entries of one byte (length in instructions, and a
// form) followed by the line change and columns in that form; only the first byte of an entry has
// its top bit set, so what we do not need is skipped.
//
// Worked case (3.11): bytes d8 07 0d, first line 12, instruction 2. 0xd8 = 1|1011|000: form 11 (one
// line, advanced by 11 - 10 = 1), one code unit: [0, 2) is line 13. Instruction 2 is past the
// table, so the answer is the first line, 12.
//
// A table comes from a recording: any bytes give some line, never a crash.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>

#include "symbols/stack_names.h"

namespace plateau {
namespace {

constexpr int kFirstLocationTableMinor = 11;
constexpr int kRangeTableMinor = 10;
constexpr int64_t kInstructionBytes = 2;
constexpr int kNoLineChange = -128;

int signed_byte(char c) {
  return static_cast<signed char>(c);
}
int64_t unsigned_byte(char c) {
  return static_cast<unsigned char>(c);
}

std::optional<int64_t> line_by_steps(std::string_view table, int64_t line, int64_t at) {
  int64_t offset = 0;
  for (size_t i = 0; i + 1 < table.size(); i += 2) {
    offset += unsigned_byte(table[i]);
    if (offset > at) break;
    line += signed_byte(table[i + 1]);
  }
  return line;
}

std::optional<int64_t> line_by_ranges(std::string_view table, int64_t line, int64_t at) {
  int64_t end = 0;
  for (size_t i = 0; i + 1 < table.size(); i += 2) {
    end += unsigned_byte(table[i]);
    const int change = signed_byte(table[i + 1]);
    if (change != kNoLineChange) line += change;
    if (at < end) return change == kNoLineChange ? std::nullopt : std::optional(line);
  }
  return std::nullopt;
}

// Six bits per byte, lowest first; bit 6 says that another follows. The lowest bit is the sign.
int64_t signed_number(std::string_view bytes) {
  uint64_t value = 0;
  unsigned shift = 0;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (shift < 60) value |= uint64_t{byte & 0x3fU} << shift;
    shift += 6;
    if ((byte & 0x40U) == 0) break;
  }
  const auto magnitude = static_cast<int64_t>(value >> 1);
  return (value & 1) != 0 ? -magnitude : magnitude;
}

std::optional<int64_t> line_by_locations(std::string_view table, int64_t line, int64_t at) {
  constexpr unsigned kOneLineForm = 10;  // 10, 11, 12: the line advances by 0, 1, 2.
  constexpr unsigned kNoColumnsForm = 13;
  constexpr unsigned kLongForm = 14;
  constexpr unsigned kNoLineForm = 15;
  int64_t end = 0;
  size_t i = 0;
  while (i < table.size()) {
    const auto head = static_cast<unsigned char>(table[i]);
    size_t next = i + 1;
    while (next < table.size() && unsigned_byte(table[next]) < 0x80) ++next;
    const unsigned form = (head >> 3) & 0xfU;
    end += ((head & 7U) + 1) * kInstructionBytes;
    if (form >= kNoColumnsForm && form <= kLongForm) {
      line += signed_number(table.substr(i + 1, next - i - 1));
    } else if (form >= kOneLineForm && form < kNoColumnsForm) {
      line += form - kOneLineForm;
    }
    // Wild sums come from damaged tables only; they must not overflow.
    constexpr int64_t kFarLine = int64_t{1} << 40;
    line = std::clamp(line, -kFarLine, kFarLine);
    if (at < end) return form == kNoLineForm ? std::nullopt : std::optional(line);
    i = next;
  }
  return std::nullopt;
}

}  // namespace

int python_line(const PythonCode& code, int32_t instruction) {
  if (instruction < 0) return code.first_line;
  std::optional<int64_t> line;
  if (code.minor >= kFirstLocationTableMinor) {
    line = line_by_locations(code.line_table, code.first_line, instruction);
  } else if (code.minor == kRangeTableMinor) {
    line = line_by_ranges(code.line_table, code.first_line, instruction);
  } else {
    line = line_by_steps(code.line_table, code.first_line, instruction);
  }
  if (!line || *line < 0 || *line > std::numeric_limits<int>::max()) return code.first_line;
  return static_cast<int>(*line);
}

}  // namespace plateau
