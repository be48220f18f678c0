// SPDX-License-Identifier: Apache-2.0
// What all layouts share: names of columns, one cell, and what stands around lines.
#include "import/cells.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/text.h"
#include "base/units.h"
#include "import/line_stamp.h"
#include "import/words.h"

namespace plateau {
namespace {

constexpr size_t kLongestPrefix = 120;

bool ends_prefix(std::string_view line, size_t at) {
  const char c = at < line.size() ? line[at] : '\0';
  const char next = at + 1 < line.size() ? line[at + 1] : '\0';
  if (c == ':') return next == ' ' || next == '\t' || next == '\0';
  return c == ' ' && next == '|';
}

bool is_label_byte(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || c == '.' || c == '-' || c == '/' || c == ',';
}

// "[…]", "(… pid=12)" at `at`; one past its end, or `at`.
size_t bracketed(std::string_view line, size_t at) {
  const char open = line[at];
  const char close = open == '[' ? ']' : open == '(' ? ')' : '\0';
  if (close == '\0') return at;
  const size_t end = line.substr(at, kLongestPrefix).find(close);
  return end == std::string_view::npos ? at : at + end + 1;
}

bool is_level(std::string_view word) {
  return (word_bits(word) & kWordLevel) != 0 || equal_ignoring_case(word, "critical") ||
         equal_ignoring_case(word, "trace") || word.empty();
}

}  // namespace

size_t behind_zone(std::string_view line, size_t at) {
  constexpr size_t kZone = 6;  // " +0000"
  if (at + kZone > line.size() || line[at] != ' ') return at;
  if (line[at + 1] != '+' && line[at + 1] != '-') return at;
  const std::string_view digits = line.substr(at + 2, kZone - 2);
  const bool zone = std::all_of(digits.begin(), digits.end(), is_digit) &&
                    (at + kZone == line.size() || !is_digit(line[at + kZone]));
  return zone ? at + kZone : at;
}

// "4.0/64.0 GB": the unit of the second is that of both.
void add_limit(LogCell& cell, const Numeral& limit) {
  if (limit.unit == Numeral::Unit::memory) {
    cell.limit_mb = limit.value * limit.unit_mb;
    if (cell.number.unit == Numeral::Unit::none) {
      cell.number.unit = Numeral::Unit::memory;
      cell.number.unit_mb = limit.unit_mb;
    }
  }
}

void CellRow::clear() {
  cells.clear();
  has_time = false;
  time_at = kNoTimeAt;
  time_begin = time_end = 0;
  prefix = {};
  starts_block = false;
}

void LogLayout::want(const std::vector<uint32_t>& columns) {
  wanted_.assign(columns_.size(), false);
  for (const uint32_t column : columns) {
    if (column < wanted_.size()) wanted_[column] = true;
  }
}

uint32_t ColumnNames::of(uint64_t key, std::string_view name) {
  const auto found = number_of_.find(key);
  if (found != number_of_.end()) return found->second;
  if (!learning_ || names_.size() >= kMost) return kNoColumn;
  const auto number = static_cast<uint32_t>(names_.size());
  number_of_.emplace(key, number);
  names_.emplace_back(name.substr(0, 200));
  keys_.push_back(key);
  return number;
}

std::string_view behind_equals(std::string_view text) {
  static constexpr std::string_view kEquals = " = ";
  const size_t at = text.rfind(kEquals);
  const bool sum = at != std::string_view::npos && text.substr(0, at).find(" + ") < at;
  return sum ? trim(text.substr(at + kEquals.size())) : text;
}

LogCell read_cell(std::string_view text, const NumberStyle& style) {
  LogCell cell;
  text = trim(text);
  while (text.size() >= 2 && text.front() == text.back() &&
         (text.front() == '"' || text.front() == '\'')) {
    text = trim(text.substr(1, text.size() - 2));
  }
  text = behind_equals(text);
  cell.text = text;
  if (text.empty()) return cell;
  if (const auto stamp = stamp_at(text, 0); stamp && text.size() - stamp->length <= 8) {
    cell.has_time = true;
    cell.time = *stamp;
    return cell;
  }
  size_t at = 0;
  while (at < text.size() && (text[at] == '~' || text[at] == '+' || text[at] == '-' ||
                              text[at] == '$' || text[at] == '<' || text[at] == ' ')) {
    ++at;
  }
  if (at >= text.size() || !is_digit(text[at])) return cell;
  // Within a cell a comma separates nothing.
  NumberStyle within = style;
  within.comma_cuts = false;
  cell.number = read_numeral(text, at, within);
  std::string_view rest = trim(text.substr(cell.number.unit_end));
  // "137,196 K": in text a letter apart may begin a word, at the end of a cell it cannot.
  if (rest.size() == 1 && rest.front() <= 'Z' && cell.number.unit == Numeral::Unit::none) {
    if (const auto mb = unit_in_mb(rest)) {
      cell.number.unit = Numeral::Unit::memory;
      cell.number.unit_mb = *mb;
      cell.number.unit_end = text.size();
      rest = {};
    }
  }
  const bool goes_on = rest.empty() || rest.front() == '/' || rest.front() == '(' ||
                       rest.front() == '[' || rest.front() == '+' || rest.front() == '%';
  cell.numeric = !cell.number.garbled && cell.number.unit != Numeral::Unit::other && goes_on;
  if (rest.starts_with('/')) {
    const size_t digit = text.find_first_of("0123456789", cell.number.unit_end);
    if (digit != std::string_view::npos) add_limit(cell, read_numeral(text, digit, within));
  }
  return cell;
}

bool read_time_above(std::string_view line, CellRow& row) {
  line = line.substr(0, kLongestPrefix);
  for (size_t at = 0; at < line.size(); ++at) {
    const bool starts = at == 0 || is_space(line[at - 1]) || line[at - 1] == '[';
    if (!starts || is_space(line[at])) continue;
    const auto stamp = stamp_at(line, at);
    if (!stamp) continue;
    row.has_time = true;
    row.time = *stamp;
    row.time_at = at;
    return true;
  }
  return false;
}

size_t read_prefix(std::string_view line, CellRow& row) {
  size_t at = 0;
  for (int part = 0; part < 4; ++part) {
    while (at < line.size() && (is_space(line[at]) || line[at] == '-')) ++at;
    if (at >= line.size()) return at;
    const size_t inside = line[at] == '[' || line[at] == '(' ? at + 1 : at;
    if (!row.has_time && inside < line.size()) {
      if (const auto stamp = stamp_at(line, inside)) {
        row.has_time = true;
        row.time = *stamp;
        row.time_at = inside;
        row.time_begin = at;
        at = behind_zone(line, inside + stamp->length);
        while (at < line.size() && (line[at] == ']' || line[at] == ')' || line[at] == ':')) ++at;
        row.time_end = at;
        continue;
      }
    }
    size_t end = bracketed(line, at);
    const bool in_brackets = end != at;
    if (!in_brackets) {
      while (end < line.size() && is_label_byte(line[end]) && end - at < kLongestPrefix) ++end;
      if (end == at || !ends_prefix(line, end)) return at;
    }
    const std::string_view label =
        in_brackets ? line.substr(at + 1, end - at - 2) : line.substr(at, end - at);
    if (row.prefix.empty() && !is_level(trim(label))) row.prefix = label;
    at = end;
    if (line.substr(at).starts_with("<stdout>") || line.substr(at).starts_with("<stderr>")) at += 8;
    while (at < line.size() && (line[at] == ':' || line[at] == ' ' || line[at] == '|')) ++at;
  }
  return at;
}

void cut_pieces(std::string_view line, size_t gap, std::vector<LinePiece>& out) {
  out.clear();
  for (size_t at = 0; at < line.size();) {
    if (is_space(line[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    if (const auto stamp = stamp_at(line, at)) end = at + stamp->length;
    for (size_t blanks = 0; end + blanks < line.size();) {
      const char c = line[end + blanks];
      if (c == '\t' || (c == ' ' && blanks + 1 >= gap)) break;
      if (c == ' ') {
        ++blanks;
      } else {
        end += blanks + 1;
        blanks = 0;
      }
    }
    out.push_back({line.substr(at, end - at), at, end});
    at = end;
  }
}

void reread_cell(LogCell& cell, const NumberStyle& style) {
  const bool plain = cell.numeric && cell.number.plain;
  // A colon may make a time of it, and behind a slash stands a limit.
  if (plain && cell.text.find_first_of(":/") == std::string_view::npos) {
    cell.number.value = value_again(cell.text.substr(cell.number.begin), cell.number);
    return;
  }
  const uint32_t column = cell.column;
  cell = read_cell(cell.text, style);
  cell.column = column;
}

uint64_t key_of_place(size_t place) {
  return 0x9e3779b97f4a7c15ull * (place + 1);
}

}  // namespace plateau
