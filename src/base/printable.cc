// SPDX-License-Identifier: Apache-2.0
#include "base/printable.h"

#include <algorithm>
#include <array>

#include "base/utf8.h"

namespace plateau {
namespace {

constexpr char kEscape = '\x1b';

bool is_control(char32_t value) {
  return value < 0x20 || (value >= 0x7F && value <= 0x9F);
}

// Marks that reorder or hide what follows; a log has no business sending them to a terminal.
bool is_invisible(char32_t value) {
  struct Range {
    char32_t first;
    char32_t last;
  };
  constexpr std::array<Range, 5> kInvisible = {
      {{0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x2069}, {0xFEFF, 0xFEFF}, {0xE0000, 0xE007F}}};
  return std::any_of(kInvisible.begin(), kInvisible.end(), [value](const Range& range) {
    return value >= range.first && value <= range.last;
  });
}

// Bytes of the escape sequence at the front: CSI up to its final byte, string commands (OSC, DCS)
// up to BEL or ST, anything else ESC and one byte. An unfinished one reaches to the end.
size_t escape_length(std::string_view text) {
  if (text.size() < 2) return text.size();
  const char kind = text[1];
  if (kind == '[') {
    for (size_t i = 2; i < text.size(); ++i) {
      if (text[i] >= 0x40 && text[i] <= 0x7E) return i + 1;
      if (text[i] == kEscape) return i;
    }
    return text.size();
  }
  if (kind == ']' || kind == 'P' || kind == '_' || kind == '^' || kind == 'X') {
    for (size_t i = 2; i < text.size(); ++i) {
      if (text[i] == '\a') return i + 1;
      if (text[i] == kEscape) return i + 1 < text.size() && text[i + 1] == '\\' ? i + 2 : i;
    }
    return text.size();
  }
  return kind == kEscape ? 1 : 2;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    if (text.front() == kEscape) {
      text.remove_prefix(escape_length(text));
      continue;
    }
    const CodePoint point = decode_utf8(text);
    text.remove_prefix(point.bytes);
    if (point.value == '\n' || point.value == '\t' || point.value == '\r') {
      out.push_back(' ');
    } else if (!is_control(point.value) && !is_invisible(point.value)) {
      append_utf8(out, point.value);
    }
  }
  return out;
}

}  // namespace plateau
