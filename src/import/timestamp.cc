// SPDX-License-Identifier: Apache-2.0
#include "import/timestamp.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"

namespace plateau {
namespace {

constexpr double kDay = 86400;

// A reader over `text` that takes fixed pieces and says whether they were there.
struct Cursor {
  std::string_view text;
  size_t at = 0;

  [[nodiscard]] char peek(size_t ahead = 0) const {
    return at + ahead < text.size() ? text[at + ahead] : '\0';
  }
  bool take(char c) {
    if (peek() != c || at >= text.size()) return false;
    ++at;
    return true;
  }
  // Exactly `count` digits.
  bool digits(size_t count, int& value) {
    value = 0;
    for (size_t i = 0; i < count; ++i) {
      if (!is_digit(peek(i))) return false;
      value = value * 10 + (peek(i) - '0');
    }
    at += count;
    return true;
  }
};

bool take_fraction(Cursor& cursor, double& seconds) {
  if ((cursor.peek() != '.' && cursor.peek() != ',') || !is_digit(cursor.peek(1))) return false;
  ++cursor.at;
  double scale = 0.1;
  for (; is_digit(cursor.peek()); ++cursor.at, scale /= 10) {
    seconds += scale * (cursor.peek() - '0');
  }
  return true;
}

// " PM", " am" after a clock time.
void take_half_day(Cursor& cursor, double& seconds) {
  const size_t gap = cursor.peek() == ' ' ? 1 : 0;
  const char half = ascii_lower(cursor.peek(gap));
  if ((half != 'a' && half != 'p') || ascii_lower(cursor.peek(gap + 1)) != 'm') return;
  if (is_letter(cursor.peek(gap + 2)) || seconds >= 13 * 3600) return;
  cursor.at += gap + 2;
  if (half == 'p' && seconds < 12 * 3600) seconds += 12 * 3600;
  if (half == 'a' && seconds >= 12 * 3600) seconds -= 12 * 3600;
}

bool take_clock(Cursor& cursor, double& seconds) {
  int hour = 0;
  int minute = 0;
  int second = 0;
  const size_t hour_digits = is_digit(cursor.peek(1)) ? 2 : 1;
  if (!cursor.digits(hour_digits, hour) || !cursor.take(':')) return false;
  if (!cursor.digits(2, minute) || !cursor.take(':') || !cursor.digits(2, second)) return false;
  if (is_digit(cursor.peek()) || hour > 23 || minute > 59 || second > 60) return false;
  seconds = hour * 3600.0 + minute * 60.0 + second;
  take_fraction(cursor, seconds);
  take_half_day(cursor, seconds);
  return true;
}

bool take_date(Cursor& cursor, double& seconds) {
  int year = 0;
  int month = 0;
  int day = 0;
  if (!cursor.digits(4, year)) return false;
  const char separator = cursor.peek();
  if ((separator != '-' && separator != '/') || !cursor.take(separator)) return false;
  if (!cursor.digits(2, month) || !cursor.take(separator) || !cursor.digits(2, day)) return false;
  if (year < 1970 || month < 1 || month > 12 || day < 1 || day > 31) return false;
  seconds = kDay * static_cast<double>(days_from_civil(year, month, day));
  return true;
}

// "Z", "+02:00", "-0700"; the offset is taken off to give UTC.
void take_zone(Cursor& cursor, double& seconds) {
  if (cursor.take('Z')) return;
  const char sign = cursor.peek();
  if (sign != '+' && sign != '-') return;
  Cursor ahead = cursor;
  ++ahead.at;
  int hours = 0;
  int minutes = 0;
  if (!ahead.digits(2, hours)) return;
  ahead.take(':');
  if (!ahead.digits(2, minutes) || is_digit(ahead.peek()) || hours > 14) return;
  const double offset = hours * 3600.0 + minutes * 60.0;
  seconds += sign == '+' ? -offset : offset;
  cursor = ahead;
}

int month_from_name(std::string_view word) {
  static constexpr std::array<std::string_view, 12> kMonths = {
      "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"};
  if (word.size() < 3) return 0;
  for (size_t i = 0; i < kMonths.size(); ++i) {
    if (equal_ignoring_case(word.substr(0, 3), kMonths[i])) return static_cast<int>(i) + 1;
  }
  return 0;
}

// What the words of a `date` line add up to.
struct DateWords {
  std::optional<Stamp> stamp;
  int year = 0;
  int month = 0;
  int day = 0;
  int others = 0;

  void add(std::string_view word) {
    while (!word.empty() && !is_digit(word.back()) && !is_letter(word.back())) {
      word.remove_suffix(1);
    }
    if (word.empty()) return;
    if (const auto found = parse_stamp(word); found && !stamp) {
      stamp = found;
    } else if (const auto number = parse_int(word); number) {
      if (*number >= 1970 && *number < 2200)
        year = static_cast<int>(*number);
      else if (*number >= 1 && *number <= 31)
        day = static_cast<int>(*number);
      else
        ++others;
    } else if (const int named = month_from_name(word); named != 0) {
      month = named;
    } else if (stamp && equal_ignoring_case(word, "pm")) {
      if (stamp->seconds < 12 * 3600) stamp->seconds += 12 * 3600;
    } else if (stamp && equal_ignoring_case(word, "am")) {
      if (stamp->seconds >= 12 * 3600) stamp->seconds -= 12 * 3600;
    } else if (word.size() > 5) {
      ++others;
    }
  }
};

}  // namespace

int64_t days_from_civil(int64_t year, int month, int day) {
  // Counts from 1 March, so that the leap day is the last of its year.
  if (month <= 2) --year;
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const int64_t year_of_era = year - era * 400;
  const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + day_of_era - 719468;
}

std::optional<Stamp> parse_stamp(std::string_view text) {
  Cursor cursor{text};
  Stamp stamp;
  double date = 0;
  double clock = 0;
  Cursor ahead = cursor;
  if (take_date(ahead, date)) {
    const char gap = ahead.peek();
    if (gap != ' ' && gap != 'T' && gap != 't' && gap != '_') return std::nullopt;
    ++ahead.at;
    if (!take_clock(ahead, clock)) return std::nullopt;
    stamp.kind = Stamp::Kind::epoch;
    stamp.seconds = date + clock;
    take_zone(ahead, stamp.seconds);
  } else {
    ahead = cursor;
    if (!take_clock(ahead, clock)) return std::nullopt;
    stamp.seconds = clock;
  }
  stamp.length = ahead.at;
  return stamp;
}

std::optional<double> epoch_seconds(double number) {
  for (const double scale : {1.0, 1e-3, 1e-6, 1e-9}) {
    const double seconds = number * scale;
    if (seconds >= 1e9 && seconds < 5e9) return seconds;
  }
  return std::nullopt;
}

std::optional<Stamp> parse_date_line(std::string_view line) {
  // "=== 13:18:25 ===" and "# Mon Oct 20 …": decoration around the date is common.
  while (!line.empty() && !is_digit(line.front()) && !is_letter(line.front())) {
    line.remove_prefix(1);
  }
  line = trim(line);
  if (line.empty() || line.size() > 60) return std::nullopt;
  if (const auto whole = parse_stamp(line); whole && line.size() - whole->length <= 12) {
    return whole;
  }
  if (const auto number = parse_double(line)) {
    const auto seconds = epoch_seconds(*number);
    if (!seconds) return std::nullopt;
    return Stamp{Stamp::Kind::epoch, *seconds, line.size()};
  }
  DateWords words;
  for (std::string_view rest = line; !rest.empty();) words.add(next_word(rest));
  if (!words.stamp || words.others > 0) return std::nullopt;
  Stamp stamp = *words.stamp;
  if (stamp.kind == Stamp::Kind::day && words.year > 0 && words.month > 0 && words.day > 0) {
    stamp.kind = Stamp::Kind::epoch;
    stamp.seconds +=
        kDay * static_cast<double>(days_from_civil(words.year, words.month, words.day));
  }
  return stamp;
}

double TimeTrack::accept(const Stamp& stamp) {
  if (!kind_) kind_ = stamp.kind;
  if (*kind_ != stamp.kind || !std::isfinite(stamp.seconds)) return std::nan("");
  if (stamp.kind != Stamp::Kind::day) return stamp.seconds;
  if (last_ >= 0 && stamp.seconds < last_ - kDay / 2) offset_ += kDay;
  last_ = stamp.seconds;
  return offset_ + stamp.seconds;
}

}  // namespace plateau
