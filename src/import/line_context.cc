// SPDX-License-Identifier: Apache-2.0
#include "import/line_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "base/text.h"
#include "base/units.h"
#include "import/slot_name.h"

namespace plateau {
namespace {

constexpr size_t kFarthestBracket = 32;
constexpr double kSameFigure = 0.02;  // By rounding of the one in brackets.

size_t indent_of(std::string_view line) {
  return std::min(line.find_first_not_of(" \t"), line.size());
}

}  // namespace

bool closes_a_tag(std::string_view line, size_t at) {
  const size_t open = line.substr(0, at).rfind('[');
  if (open == std::string_view::npos) return false;
  const std::string_view inside = line.substr(open + 1, at - open - 1);
  if (inside.find(':') != std::string_view::npos) return true;
  const bool digits = std::any_of(inside.begin(), inside.end(), is_digit);
  return !digits && (inside.find(',') != std::string_view::npos || inside.ends_with("  "));
}

SameInBrackets same_in_brackets(std::string_view line, const Numeral& number,
                                const NumberStyle& style) {
  if (number.unit != Numeral::Unit::none || number.value <= 0) return {};
  const std::string_view rest = line.substr(number.end, kFarthestBracket);
  const size_t open = rest.find_first_not_of(' ');
  if (open == std::string_view::npos || rest[open] != '(') return {};
  const size_t digit = rest.find_first_not_of(' ', open + 1);
  const size_t close = rest.find(')', open);
  if (close == std::string_view::npos || digit >= close || !is_digit(rest[digit])) return {};
  const Numeral inside = read_numeral(rest, digit, style);
  if (inside.unit != Numeral::Unit::memory || inside.unit_end != close) return {};
  const double mb = inside.value * inside.unit_mb;
  // As much as the last digit written may hide.
  const double rounding = inside.unit_mb * std::pow(10, -static_cast<double>(inside.decimals));
  static constexpr std::array<double, 4> kUnits = {1e-6, 1024 / 1e6, 1e-3, 1};
  for (const double unit : kUnits) {
    if (std::abs(number.value * unit - mb) <= kSameFigure * mb + rounding) {
      return {number.end + close + 1, unit, true};
    }
  }
  return {0, 0, true};
}

void take_unit_behind_brackets(std::string_view line, const NumberStyle& style, Numeral& number) {
  if (number.unit != Numeral::Unit::none) return;
  const std::string_view rest = line.substr(number.end, 24);
  const size_t open = rest.find_first_not_of(' ');
  if (open == std::string_view::npos || rest[open] != '(') return;
  const size_t close = rest.find(')', open);
  if (close == std::string_view::npos || close < open + 2 || !is_digit(rest[open + 1])) return;
  const Numeral inside = read_numeral(rest, open + 1, style);
  if (inside.end != close) return;
  std::string_view word = trim(rest.substr(close + 1));
  size_t letters = 0;
  while (letters < word.size() && is_letter(word[letters])) ++letters;
  if (const auto mb = unit_in_mb(word.substr(0, letters)); mb && letters > 1) {
    number.unit = Numeral::Unit::memory;
    number.unit_mb = *mb;
  }
}

bool arrow_follows(std::string_view line, const Numeral& number) {
  std::string_view rest = trim(line.substr(number.unit_end, 24));
  if (rest.starts_with(']')) rest.remove_prefix(1);
  if (rest.starts_with('(')) rest = trim(rest.substr(std::min(rest.size(), rest.find(')') + 1)));
  const size_t arrow = rest.starts_with("->") || rest.starts_with("=>") ? 2
                       : rest.starts_with('>')                          ? 1
                                                                        : 0;
  if (arrow == 0) return false;
  rest = trim(rest.substr(arrow));
  if (rest.starts_with('[')) rest.remove_prefix(1);
  return !rest.empty() && is_digit(rest.front());
}

std::string_view free_behind_pair(std::string_view line, const Numeral& number) {
  std::string_view rest = trim(line.substr(number.unit_end, 2 * kFarthestBracket));
  if (!rest.starts_with('/')) return {};
  rest = trim(rest.substr(1));
  if (rest.empty() || !is_digit(rest.front())) return {};
  next_word(rest);
  for (int words = 0; words < 2; ++words) {
    std::string_view word = next_word(rest);
    while (!word.empty() && !is_letter(word.back())) word.remove_suffix(1);
    if (lists("free,available,remaining,unused,left", ",", word)) return word;
  }
  return {};
}

size_t end_of_free_behind(std::string_view line, const Numeral& number) {
  if (number.unit != Numeral::Unit::memory) return 0;
  const size_t begin = line.find_first_not_of(' ', number.unit_end);
  if (begin == std::string_view::npos || begin != number.unit_end + 1) return 0;
  size_t end = begin;
  while (end < line.size() && is_letter(line[end])) ++end;
  std::string word(line.substr(begin, end - begin));
  std::transform(word.begin(), word.end(), word.begin(), ascii_lower);
  if (!lists("free,available,avail,remaining,unused", ",", word)) return 0;
  // "120 MB free: 30 MB", "5 MB free 3 MB": said of the next.
  const size_t next = line.find_first_not_of(' ', end);
  const bool last = next == std::string_view::npos || line[next] == ',' || line[next] == ';' ||
                    line[next] == ')' || line[next] == '/' || line[next] == '|' ||
                    line[next] == '(' || line[next] == '.' || line.substr(next).starts_with("of ");
  return last ? end : 0;
}

bool is_cumulative(std::string_view line, const Numeral& number) {
  if (number.unit != Numeral::Unit::memory) return false;
  const std::string_view behind = line.substr(number.unit_end);
  const std::string_view phrase = behind.substr(0, behind.find_first_of(",;()|0123456789"));
  return phrase.find(" cumulative") != std::string_view::npos;
}

size_t behind_capacity(std::string_view line, size_t end, const NumberStyle& style) {
  const size_t slash = line.find_first_not_of(' ', end);
  if (slash == std::string_view::npos || line[slash] != '/') return end;
  const size_t digit = line.find_first_not_of(' ', slash + 1);
  if (digit == std::string_view::npos || !is_digit(line[digit])) return end;
  const Numeral capacity = read_numeral(line, digit, style);
  return capacity.unit == Numeral::Unit::memory ? capacity.unit_end : end;
}

bool an_amount_follows(std::string_view line, size_t end) {
  if (end >= line.size() || (line[end] != '=' && line[end] != ':')) return false;
  const size_t next = line.find_first_not_of(' ', end + 1);
  return next != std::string_view::npos && next <= end + 2 && is_digit(line[next]);
}

bool numbers_a_name(std::string_view line, size_t begin, size_t end) {
  if (!an_amount_follows(line, end)) return false;
  size_t letters = begin;
  while (letters < end && !is_digit(line[letters])) ++letters;
  const std::string_view word = line.substr(begin, letters - begin);
  const size_t again = line.find(word, end);
  if (again == std::string_view::npos || is_letter(line[again - 1])) return false;
  size_t digits = again + word.size();
  const size_t first = digits;
  while (digits < line.size() && is_digit(line[digits])) ++digits;
  return digits > first && an_amount_follows(line, digits);
}

size_t end_of_place(std::string_view line, size_t at) {
  constexpr size_t kMostDigits = 4;
  if (at == 0 || (line[at - 1] != ' ' && line[at - 1] != ',' && line[at - 1] != '[')) return 0;
  size_t end = at;
  size_t place = 0;
  for (; end < line.size() && is_digit(line[end]); ++end) {
    place = place * 10 + static_cast<size_t>(line[end] - '0');
  }
  if (end - at > kMostDigits || !an_amount_follows(line, end)) return 0;
  const std::string next = fmt::format("{}{}{}", line[at - 1], place + 1, line[end]);
  const size_t found = line.find(next, end);
  // The last of them has none behind it; the one before it says that they go on.
  const std::string before = fmt::format("{}{}", place == 0 ? 0 : place - 1, line[end]);
  const bool last = place > 0 && line.substr(0, at).find(before) != std::string_view::npos;
  if (found == std::string_view::npos) return last ? end : 0;
  return an_amount_follows(line, found + next.size() - 1) ? end : 0;
}

size_t end_of_foreign_word(std::string_view line, size_t at) {
  size_t end = at;
  while (end < line.size()) {
    const auto lead = static_cast<unsigned char>(line[end]);
    // Greek, Cyrillic, Arabic and their like have two bytes, those of East Asia three. 0xe2 leads
    // signs and arrows, 0xef full-width ones, 0xe3 0x80 the full stop of East Asia.
    const bool two = lead >= 0xc4 && lead <= 0xdf;
    const bool three = (lead >= 0xe0 && lead <= 0xed && lead != 0xe2) &&
                       !(lead == 0xe3 && end + 1 < line.size() && line[end + 1] == '\x80');
    const size_t size = two ? 2 : three ? 3 : 0;
    if (size == 0 || end + size > line.size()) break;
    for (size_t i = 1; i < size; ++i) {
      if ((static_cast<unsigned char>(line[end + i]) & 0xc0) != 0x80) return end;
    }
    end += size;
  }
  return end;
}

bool opens_other_figures(std::string_view line, size_t at, const NumberStyle& style) {
  if (at + 1 >= line.size() || !is_digit(line[at + 1])) return false;
  const Numeral number = read_numeral(line, at + 1, style);
  const std::string_view rest = line.substr(number.unit_end, 2);
  return number.unit == Numeral::Unit::memory && rest.size() == 2 && rest[0] == ' ' &&
         is_letter(rest[1]);
}

std::string_view label_behind(std::string_view line, size_t begin, size_t end) {
  constexpr size_t kLongestLabel = 60;
  size_t from = end + 1;
  if (from < line.size() && line[from] == '"') ++from;
  const size_t to = std::min(line.find_first_of(" \t\",;|)]}", from), line.size());
  if (from >= to || to - from > kLongestLabel) return {};
  const std::string_view value = line.substr(from, to - from);
  if (!std::any_of(value.begin(), value.end(), is_letter)) return {};
  // An amount or a duration, "18.4MiB", begins with a digit; a hash may too, and names a request.
  if (is_digit(value.front())) return {};
  return weigh_name(line.substr(begin, end - begin)).label ? value : std::string_view();
}

std::string_view gap_between(std::string_view line, size_t from, size_t to) {
  std::string_view gap = trim(line.substr(from, to - from));
  if (gap.size() > 2 && gap.front() == ']' && gap.back() == '[')
    gap = gap.substr(1, gap.size() - 2);
  return gap;
}

size_t end_of_unit_behind(std::string_view line, size_t end) {
  const size_t open = std::min(line.find('(', end), line.size());
  const size_t close = line.find(')', open);
  if (close == std::string_view::npos) return end;
  const std::string_view between = line.substr(end, open - end);
  const bool words =
      std::all_of(between.begin(), between.end(), [](char c) { return is_letter(c) || c == ' '; });
  return words && unit_in_mb(line.substr(open + 1, close - open - 1)) ? close + 1 : end;
}

bool is_lone_number(std::string_view line, const NumberStyle& style) {
  const size_t first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos || !is_digit(line[first])) return false;
  const Numeral number = read_numeral(line, first, style);
  return !number.garbled && trim(line.substr(number.unit_end)).empty();
}

std::string_view names_next_line(std::string_view line, bool words_alone) {
  constexpr size_t kLongestName = 80;
  if (words_alone) return line.substr(0, kLongestName);
  line = trim(line);
  if (!line.ends_with(':')) return {};
  return line.substr(line.size() > kLongestName ? line.size() - kLongestName : 0);
}

void Sections::see(std::string_view line, bool figures) {
  const std::string_view text = trim(line);
  if (text.empty()) {
    heading_.clear();
    return;
  }
  const bool colon = text.ends_with(':');
  const bool words = std::any_of(text.begin(), text.end(), is_letter);
  if (!words || (figures && !colon)) {
    if (!heading_.empty() && !colon_ && indent_of(line) <= indent_) heading_.clear();
    return;
  }
  heading_ = text.substr(0, kLongest);
  indent_ = indent_of(line);
  colon_ = colon;
}

std::string_view Sections::over(std::string_view line) const {
  if (heading_.empty() || (!colon_ && indent_of(line) <= indent_)) return {};
  return heading_;
}

}  // namespace plateau
