// SPDX-License-Identifier: Apache-2.0
#include "report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/utf8.h"

namespace plateau {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

template <size_t N>
bool in_any(char32_t value, const std::array<Range, N>& ranges) {
  return std::any_of(ranges.begin(), ranges.end(), [value](const Range& range) {
    return value >= range.first && value <= range.last;
  });
}

constexpr std::array<Range, 5> kZeroWidth = {
    {{0x0300, 0x036F}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}}};
constexpr std::array<Range, 11> kWide = {{{0x1100, 0x115F},
                                          {0x2E80, 0x303E},
                                          {0x3041, 0x33FF},
                                          {0x3400, 0x4DBF},
                                          {0x4E00, 0x9FFF},
                                          {0xA000, 0xA4CF},
                                          {0xAC00, 0xD7A3},
                                          {0xF900, 0xFAFF},
                                          {0xFE30, 0xFE6F},
                                          {0xFF00, 0xFF60},
                                          {0x1F300, 0x1FAFF}}};

// The longest front of `text` that fits in `width` columns; at least one code point.
size_t fitting_bytes(std::string_view text, size_t width) {
  size_t bytes = 0;
  size_t columns = 0;
  while (bytes < text.size()) {
    const CodePoint point = decode_utf8(text.substr(bytes));
    columns += glyph_width(point.value);
    if (columns > width && bytes > 0) break;
    bytes += point.bytes;
  }
  return bytes;
}

std::string_view spelled(char32_t value) {
  struct Spelling {
    char32_t value;
    std::string_view ascii;
  };
  constexpr std::array<Spelling, 16> kSpellings = {{{0x2192, "->"},
                                                    {0x00B7, "-"},
                                                    {0x2013, "-"},
                                                    {0x2014, "-"},
                                                    {0x2212, "-"},
                                                    {0x2026, "..."},
                                                    {0x00B1, "+/-"},
                                                    {0x00D7, "x"},
                                                    {0x2022, "*"},
                                                    {0x2248, "~"},
                                                    {0x2264, "<="},
                                                    {0x2265, ">="},
                                                    {0x00B2, "^2"},
                                                    {0x2588, "#"},
                                                    {0x2591, "."},
                                                    {0x2019, "'"}}};
  for (const Spelling& spelling : kSpellings) {
    if (spelling.value == value) return spelling.ascii;
  }
  return "?";
}

constexpr std::array<std::string_view, 11> kUnits = {"%",   "B",   "kB",  "MB", "GB", "KiB",
                                                     "MiB", "GiB", "min", "ms", "s"};

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// "GB", "MB/step," and "%)" do, "Based" does not.
bool begins_with_unit(std::string_view text) {
  return std::any_of(kUnits.begin(), kUnits.end(), [text](std::string_view unit) {
    return text.starts_with(unit) && (text.size() == unit.size() || !is_letter(text[unit.size()]));
  });
}

// Bytes up to the first space at which a line may end: not the one between a number and its unit.
size_t unbroken_bytes(std::string_view text) {
  const size_t space = std::min(text.find(' '), text.size());
  const bool number = space > 0 && text[space - 1] >= '0' && text[space - 1] <= '9';
  if (!number || space == text.size() || !begins_with_unit(text.substr(space + 1))) return space;
  return std::min(text.find(' ', space + 1), text.size());
}

}  // namespace

std::string_view ink_code(Ink ink) {
  constexpr std::array<std::string_view, 9> kCodes = {"",     "1",    "2",    "1;31", "1;32",
                                                      "1;33", "1;34", "1;35", "1;36"};
  return kCodes[static_cast<size_t>(ink)];
}

Ink word_ink(Word word) {
  constexpr std::array<Ink, 4> kInks = {Ink::green, Ink::cyan, Ink::red, Ink::yellow};
  return kInks[static_cast<size_t>(word)];
}

size_t glyph_width(char32_t glyph) {
  if (in_any(glyph, kZeroWidth)) return 0;
  return in_any(glyph, kWide) ? 2 : 1;
}

std::string paint(const View& view, Ink ink, std::string_view text) {
  if (!view.color || ink == Ink::plain || text.empty()) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", ink_code(ink), text);
}

size_t display_width(std::string_view text) {
  size_t columns = 0;
  while (!text.empty()) {
    const CodePoint point = decode_utf8(text);
    columns += glyph_width(point.value);
    text.remove_prefix(point.bytes);
  }
  return columns;
}

std::vector<std::string> wrap(std::string_view text, size_t width) {
  width = std::max<size_t>(width, 1);
  std::vector<std::string> lines(1);
  size_t used = 0;
  while (!text.empty()) {
    std::string_view word = text.substr(0, unbroken_bytes(text));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (word.empty()) continue;
    size_t columns = display_width(word);
    if (used > 0 && used + 1 + columns > width) {
      lines.emplace_back();
      used = 0;
    }
    if (used > 0) {
      lines.back().push_back(' ');
      ++used;
    }
    while (columns > width) {
      const size_t bytes = fitting_bytes(word, width);
      lines.back() += word.substr(0, bytes);
      word.remove_prefix(bytes);
      columns = display_width(word);
      if (!word.empty()) lines.emplace_back();
    }
    lines.back() += word;
    used += columns;
  }
  return lines;
}

std::string wrapped(std::string_view text, size_t width) {
  std::string out;
  for (const std::string& line : wrap(text, width)) out += line + "\n";
  return out;
}

std::string pad_right(std::string_view text, size_t width) {
  const size_t columns = display_width(text);
  return std::string(text) + std::string(columns < width ? width - columns : 0, ' ');
}

std::string pad_left(std::string_view text, size_t width) {
  const size_t columns = display_width(text);
  return std::string(columns < width ? width - columns : 0, ' ') + std::string(text);
}

std::string shorten(std::string_view text, size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width <= 1) return "…";
  return std::string(text.substr(0, fitting_bytes(text, width - 1))) + "…";
}

std::string to_ascii(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = decode_utf8(text);
    text.remove_prefix(point.bytes);
    if (point.value < 0x80) {
      out.push_back(static_cast<char>(point.value));
    } else {
      out += spelled(point.value);
    }
  }
  return out;
}

}  // namespace plateau
