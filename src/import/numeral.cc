// SPDX-License-Identifier: Apache-2.0
#include "import/numeral.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "base/units.h"

namespace plateau {
namespace {

constexpr double kPageMb = 4096 / 1e6;

char char_at(std::string_view line, size_t at) {
  return at < line.size() ? line[at] : '\0';
}

// Bytes of a blank that only typesetters use: non-breaking, thin, narrow; 0 if there is none.
size_t typeset_blank(std::string_view line, size_t at) {
  const std::string_view rest = line.substr(std::min(at, line.size()), 3);
  if (rest.starts_with("\xc2\xa0")) return 2;
  return rest == "\xe2\x80\x89" || rest == "\xe2\x80\xaf" ? 3 : 0;
}

size_t digits_from(std::string_view line, size_t at) {
  size_t count = 0;
  while (is_digit(char_at(line, at + count))) ++count;
  return count;
}

// The bytes of a separator at `at` with exactly three digits behind it; 0 if there is none.
size_t group_separator(std::string_view line, size_t at, const NumberStyle& style) {
  const char c = char_at(line, at);
  size_t size = typeset_blank(line, at);
  if (c == '\'' || (c == ',' && !style.decimal_comma && !style.comma_cuts)) size = 1;
  if (c == '.' && style.decimal_comma) size = 1;
  if (c == ' ' && style.space_groups) size = 1;
  return size != 0 && digits_from(line, at + size) == 3 ? size : 0;
}

bool is_decimal_sign(std::string_view line, size_t at, const NumberStyle& style) {
  const char c = char_at(line, at);
  const size_t digits = digits_from(line, at + 1);
  if (digits == 0) return false;
  if (c == '.') return !(style.decimal_comma && digits == 3);
  if (c != ',' || style.comma_cuts) return false;
  return style.decimal_comma || digits != 3;
}

// What the letters behind a number may mean, by their first eight in lower case.
struct UnitWord {
  uint64_t key = 0;
  Numeral::Unit unit = Numeral::Unit::none;
  double mb = 0;
  double seconds = 0;
};

// Of a unit of time; 0 for frequencies.
double seconds_in(std::string_view word) {
  if (word == "ns") return 1e-9;
  if (word == "us") return 1e-6;
  if (word == "ms") return 1e-3;
  if (word == "s" || word.starts_with("sec")) return 1;
  if (word.starts_with("min")) return 60;
  if (word == "h" || word == "hr" || word.starts_with("hour")) return 3600;
  return word == "d" || word.starts_with("day") ? 86400 : 0;
}

constexpr size_t kSlots = 256;

constexpr uint64_t key_of(std::string_view word) {
  uint64_t key = 0;
  for (size_t i = 0; i < word.size() && i < 8; ++i) {
    key |= static_cast<uint64_t>(static_cast<unsigned char>(ascii_lower(word[i]))) << (8 * i);
  }
  return key;
}

constexpr size_t slot_of(uint64_t key) {
  return static_cast<size_t>((key * 0x9e3779b97f4a7c15ull) >> 56);
}

std::array<UnitWord, kSlots> make_units() {
  std::array<UnitWord, kSlots> table{};
  const auto add = [&table](std::string_view words, Numeral::Unit unit) {
    for (std::string_view rest = words; !rest.empty();) {
      const std::string_view word = take_part(rest, ' ');
      const double mb = word.starts_with("page") ? kPageMb : unit_in_mb(word).value_or(0);
      size_t slot = slot_of(key_of(word));
      while (table[slot].key != 0) slot = (slot + 1) % kSlots;
      table[slot] = {.key = key_of(word),
                     .unit = unit,
                     .mb = unit == Numeral::Unit::memory ? mb : 0,
                     .seconds = unit == Numeral::Unit::time ? seconds_in(word) : 0};
    }
  };
  add("ms s sec secs second seconds us ns min mins minute minutes h hr hour hours d days day fps "
      "hz "
      "mhz ghz rpm",
      Numeral::Unit::time);
  add("b byte bytes kb mb gb tb k m g t ki mi gi ti kib mib gib tib megabytes gigabytes kilobytes "
      "kbyte mbyte gbyte kbytes mbytes gbytes kio mio gio page pages",
      Numeral::Unit::memory);
  return table;
}

const UnitWord* unit_word(std::string_view word) {
  static const std::array<UnitWord, kSlots> table = make_units();
  if (word.empty() || word.size() > 9) return nullptr;
  const uint64_t key = key_of(word);
  for (size_t slot = slot_of(key); table[slot].key != 0; slot = (slot + 1) % kSlots) {
    if (table[slot].key == key) return &table[slot];
  }
  return nullptr;
}

// "811,7 Mo": French counts octets. Other cases are words: "3 go", "12 mo".
bool is_octets(std::string_view word) {
  return word == "Ko" || word == "ko" || word == "Mo" || word == "Go";
}

std::string_view of_octets(std::string_view word) {
  return word == "Mo" ? "mb" : word == "Go" ? "gb" : "kb";
}

bool follows_rate(std::string_view line, size_t at) {
  if (char_at(line, at) == '/') {
    // "5.4 GB/32 GB" is a pair, "MB/s" and "KB/it." are rates.
    return is_letter(char_at(line, at + 1));
  }
  std::string_view rest = line.substr(std::min(at, line.size()));
  return next_word(rest) == "per";
}

void read_letters(std::string_view line, size_t at, bool apart, Numeral& number) {
  size_t end = at;
  while (is_letter(char_at(line, end))) ++end;
  const std::string_view word = line.substr(at, end - at);
  if (is_digit(char_at(line, end)) || char_at(line, end) == '_') {
    number.garbled = number.garbled || !apart;
    return;
  }
  // InfluxDB's integers: "memory_rss=123i,".
  const char behind = char_at(line, end);
  if (!apart && word == "i" && (behind == ',' || behind == ' ' || behind == '\0')) {
    number.unit_end = end;
    return;
  }
  const UnitWord* unit = unit_word(is_octets(word) ? of_octets(word) : word);
  // A letter by itself, apart, is anything: metres, minutes. "B" is bytes.
  const bool lone = apart && word.size() == 1 && word != "B" && word != "s" && word != "h";
  if (unit == nullptr || (lone && unit->unit == Numeral::Unit::memory)) {
    if (!apart) number.unit = Numeral::Unit::other;
    return;
  }
  number.unit = unit->unit;
  number.unit_mb = unit->mb;
  number.unit_s = unit->seconds;
  number.unit_end = end;
  if (number.unit == Numeral::Unit::memory && follows_rate(line, end)) {
    number.unit = Numeral::Unit::rate;
    number.unit_mb = 0;
  }
}

void read_unit(std::string_view line, Numeral& number) {
  number.unit_end = number.end;
  size_t at = number.end;
  size_t blank = char_at(line, at) == ' ' ? 1 : typeset_blank(line, at);
  // Tools pad their units into columns: "88.0   MB".
  while (blank > 0 && blank < 4 && char_at(line, at + blank) == ' ') ++blank;
  if (char_at(line, at + blank) == '%') {
    number.unit = Numeral::Unit::percent;
    number.unit_end = at + blank + 1;
    return;
  }
  if (blank > 0 && char_at(line, at + blank) == '[') return;
  at += blank;
  // "\xc2\xb5s": micro-seconds.
  if (line.substr(std::min(at, line.size())).starts_with("\xc2\xb5")) at += 2;
  if (is_letter(char_at(line, at))) read_letters(line, at, blank > 0, number);
}

void read_sign(std::string_view line, Numeral& number) {
  const size_t at = number.begin;
  const char left = at > 0 ? line[at - 1] : '\0';
  const char further = at > 1 ? line[at - 2] : '\0';
  if (is_letter(left) || left == '_') number.glued = true;
  if (left == '.' && (is_digit(further) || is_letter(further))) number.garbled = true;
  const bool free_left = !is_digit(further) && !is_letter(further) && further != '_';
  if ((left == '+' || left == '-') && free_left) {
    number.has_sign = true;
    number.begin = at - 1;
    if (left == '-') number.value = -number.value;
  } else if (left == '-' && (is_letter(further) || further == '_')) {
    number.glued = true;                                             // "worker-0"
  } else if (at >= 3 && line.substr(at - 3, 3) == "\xe2\x88\x92") {  // U+2212
    number.has_sign = true;
    number.begin = at - 3;
    number.value = -number.value;
  } else if (at >= 2 && line.substr(at - 2, 2) == "\xc2\xb1") {
    number.has_sign = true;
  }
}

void read_digits(std::string_view line, size_t count, Numeral& number) {
  for (size_t i = 0; i < count; ++i) {
    number.value = number.value * 10 + (line[number.end + i] - '0');
  }
  number.end += count;
}

void read_fraction(std::string_view line, Numeral& number) {
  const size_t count = digits_from(line, number.end + 1);
  double scale = 1;
  double fraction = 0;
  for (size_t i = 0; i < std::min<size_t>(count, 15); ++i) {
    fraction = fraction * 10 + (line[number.end + 1 + i] - '0');
    scale *= 10;
  }
  number.value += fraction / scale;
  number.decimals = static_cast<uint8_t>(std::min<size_t>(count, 15));
  number.end += 1 + count;
}

void read_exponent(std::string_view line, Numeral& number) {
  if (ascii_lower(char_at(line, number.end)) != 'e') return;
  size_t at = number.end + 1;
  const bool negative = char_at(line, at) == '-';
  if (negative || char_at(line, at) == '+') ++at;
  const size_t count = digits_from(line, at);
  if (count == 0 || count > 3) return;
  int power = 0;
  for (size_t i = 0; i < count; ++i) power = power * 10 + (line[at + i] - '0');
  number.value *= std::pow(10.0, negative ? -power : power);
  number.end = at + count;
}

// The digit at `at` is the last behind a decimal point. Three of them may be thousands: "1.034,5".
bool is_behind_fraction(std::string_view line, size_t at) {
  size_t point = at;
  while (point > 0 && is_digit(line[point])) --point;
  return at - point != 3 && line[point] == '.' && point > 0 && is_digit(line[point - 1]);
}

// "18.11.2026", "10.0.0.3": a point between digits with another before or behind them.
bool is_one_of_several_points(std::string_view line, size_t point) {
  size_t left = point;
  while (left > 0 && is_digit(line[left - 1])) --left;
  if (left > 0 && line[left - 1] == '.') return true;
  const size_t end = point + 1 + digits_from(line, point + 1);
  return char_at(line, end) == '.' && is_digit(char_at(line, end + 1));
}

// U+2212 before the number.
bool has_odd_minus(std::string_view line, size_t at) {
  return at > 0 && static_cast<unsigned char>(line[at - 1]) >= 0x80;
}

}  // namespace

double value_again(std::string_view text, const Numeral& known) {
  const char* p = text.data();
  const char* const end = p + (known.end - known.begin);
  const bool negative = *p == '-';
  if (known.has_sign && !is_digit(*p)) ++p;
  double value = 0;
  for (; p < end && is_digit(*p); ++p) value = value * 10 + (*p - '0');
  if (p < end) {
    double scale = 1;
    double fraction = 0;
    for (++p; p < end; ++p) {
      fraction = fraction * 10 + (*p - '0');
      scale *= 10;
    }
    value += fraction / scale;
  }
  return negative ? -value : value;
}

Numeral read_numeral(std::string_view line, size_t at, const NumberStyle& style) {
  Numeral number;
  number.begin = number.end = at;
  const size_t first = digits_from(line, at);
  read_digits(line, first, number);
  bool grouped = false;
  while (first <= 3) {
    const size_t size = group_separator(line, number.end, style);
    if (size == 0) break;
    number.end += size;
    read_digits(line, 3, number);
    grouped = true;
  }
  if (is_decimal_sign(line, number.end, style) &&
      !(grouped && char_at(line, number.end) == ',' && !style.decimal_comma)) {
    read_fraction(line, number);
    // A second point: a version or an address.
    const bool more = char_at(line, number.end) == '.' && is_digit(char_at(line, number.end + 1));
    number.garbled = more;
  }
  const size_t mantissa_end = number.end;
  read_exponent(line, number);
  number.plain =
      !grouped && number.end == mantissa_end && number.decimals < 15 && !has_odd_minus(line, at);
  read_sign(line, number);
  read_unit(line, number);
  return number;
}

// A space at `at` between two digits. Only what ends in an amount of memory counts: elsewhere
// numbers stand beside each other for many reasons.
void NumberStyleEvidence::see_space(std::string_view line, size_t at) {
  size_t first = at;
  while (first > 0 && is_digit(line[first - 1])) --first;
  const char left = first > 0 ? line[first - 1] : ' ';
  const size_t behind = digits_from(line, at + 1);
  const Numeral last = read_numeral(line, at + 1, {});
  if (last.unit != Numeral::Unit::memory || left == '.' || left == ',') return;
  if (at - first > 3 || behind != 3) {
    ++space_pairs_;
    return;
  }
  ++space_groups_;
  if (line[at + 1] == '0') ++zero_groups_;
}

void NumberStyleEvidence::see(std::string_view line) {
  for (size_t at = 0; at + 2 < line.size(); ++at) {
    if (!is_digit(line[at]) || !is_digit(line[at + 2])) continue;
    if (line[at + 1] == ' ') see_space(line, at + 1);
    if (line[at + 1] == '.') {
      const size_t digits = digits_from(line, at + 2);
      if (digits != 3 && is_one_of_several_points(line, at + 1)) continue;
      const std::string_view rest = trim(line.substr(at + 2 + digits));
      const bool small = rest.starts_with('K') || rest.starts_with('k') || rest.starts_with('B') ||
                         rest.starts_with("bytes") || rest.starts_with('.');
      ++(digits == 3 && small ? point_groups_ : points_);
    }
    if (line[at + 1] != ',') continue;
    const size_t behind = digits_from(line, at + 2);
    const char next = char_at(line, at + 2 + behind);
    if (behind == 3 && next == ',') ++grouped_commas_;
    // "324139119.07,10": behind a fraction a comma parts two numbers.
    if (is_behind_fraction(line, at)) continue;
    const bool ends = next == ' ' || next == '%' || next == '\0' || is_letter(next);
    if (behind <= 2 && ends) ++decimal_commas_;
  }
}

NumberStyle NumberStyleEvidence::style() const {
  NumberStyle style;
  style.decimal_comma = decimal_commas_ > 0 && grouped_commas_ == 0 &&
                        (points_ == 0 || decimal_commas_ * 2 > points_);
  if (point_groups_ >= 5 && points_ == 0) style.decimal_comma = true;
  style.space_groups =
      zero_groups_ >= 2 && zero_groups_ * 50 >= space_groups_ && space_pairs_ * 20 <= space_groups_;
  return style;
}

}  // namespace plateau
