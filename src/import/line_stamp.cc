// SPDX-License-Identifier: Apache-2.0
#include "import/line_stamp.h"

#include <array>

#include "base/text.h"

namespace plateau {
namespace {

constexpr double kDay = 86400;
constexpr int kNoYear = 2000;  // A leap year, so that 29 February exists.

int month_named(std::string_view word) {
  static constexpr std::array<std::string_view, 12> kMonths = {
      "january", "february", "march",     "april",   "may",      "june",
      "july",    "august",   "september", "october", "november", "december"};
  if (word.size() < 3 || word.size() > 9) return 0;
  for (size_t i = 0; i < kMonths.size(); ++i) {
    if (equal_ignoring_case(kMonths[i].substr(0, word.size()), word))
      return static_cast<int>(i) + 1;
  }
  return word.size() == 4 && equal_ignoring_case(word, "sept") ? 9 : 0;
}

bool is_weekday(std::string_view word) {
  static constexpr std::array<std::string_view, 7> kDays = {
      "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"};
  if (word.size() < 3) return false;
  for (const std::string_view day : kDays) {
    if (word.size() <= day.size() && equal_ignoring_case(day.substr(0, word.size()), word)) {
      return true;
    }
  }
  return false;
}

// Walks over a date in parts.
struct Walk {
  std::string_view line;
  size_t at;

  [[nodiscard]] char peek() const { return at < line.size() ? line[at] : '\0'; }
  void blanks() {
    while (peek() == ' ') ++at;
  }
  // Letters, and nothing else, from here; empty leaves the place.
  std::string_view word() {
    size_t end = at;
    while (end < line.size() && is_letter(line[end])) ++end;
    const std::string_view found = line.substr(at, end - at);
    at = end;
    return found;
  }
  // At most `most` digits; -1 if there is none.
  int number(size_t most) {
    int value = 0;
    size_t count = 0;
    while (count < most && at < line.size() && is_digit(line[at])) {
      value = value * 10 + (line[at] - '0');
      ++at;
      ++count;
    }
    return count == 0 || is_digit(peek()) ? -1 : value;
  }
};

struct Date {
  int year = 0;
  int month = 0;
  int day = 0;
};

bool is_year(int number) {
  return number >= 1970 && number < 2200;
}

double seconds_of(const Date& date) {
  return kDay * static_cast<double>(
                    days_from_civil(date.year > 0 ? date.year : kNoYear, date.month, date.day));
}

// "-08.15.07:744": points between hours, minutes and seconds, as Unreal's logs have them.
std::optional<double> pointed_clock(Walk& walk) {
  Walk ahead = walk;
  ++ahead.at;
  const int hour = ahead.number(2);
  if (hour < 0 || hour > 23 || ahead.peek() != '.') return std::nullopt;
  ++ahead.at;
  const int minute = ahead.number(2);
  if (minute < 0 || minute > 59 || ahead.peek() != '.') return std::nullopt;
  ++ahead.at;
  const int second = ahead.number(2);
  if (second < 0 || second > 60) return std::nullopt;
  double seconds = hour * 3600.0 + minute * 60.0 + second;
  if (ahead.peek() == ':') {
    Walk fraction = ahead;
    ++fraction.at;
    if (const int ms = fraction.number(3); ms >= 0) {
      seconds += ms / 1000.0;
      ahead = fraction;
    }
  }
  walk = ahead;
  return seconds;
}

// " 14:36:55", ", 4:46:59 PM", ":01:53:44", " 20:09" after a date.
std::optional<double> clock_after(Walk& walk) {
  Walk ahead = walk;
  if (ahead.peek() == '-') return pointed_clock(walk);
  if (ahead.peek() == ',' || ahead.peek() == ':' || ahead.peek() == 'T') ++ahead.at;
  ahead.blanks();
  const std::string_view rest = ahead.line.substr(std::min(ahead.at, ahead.line.size()));
  if (const auto full = parse_stamp(rest); full && full->kind == Stamp::Kind::day) {
    walk.at = ahead.at + full->length;
    return full->seconds;
  }
  const int hour = ahead.number(2);
  if (hour < 0 || hour > 23 || ahead.peek() != ':') return std::nullopt;
  ++ahead.at;
  const int minute = ahead.number(2);
  if (minute < 0 || minute > 59) return std::nullopt;
  double seconds = hour * 3600.0 + minute * 60.0;
  const char half = ascii_lower(ahead.at + 1 < ahead.line.size() ? ahead.line[ahead.at + 1] : '\0');
  if (ahead.peek() == ' ' && (half == 'a' || half == 'p') && ahead.at + 2 < ahead.line.size() &&
      ascii_lower(ahead.line[ahead.at + 2]) == 'm') {
    if (half == 'p' && hour < 12) seconds += 12 * 3600;
    if (half == 'a' && hour == 12) seconds -= 12 * 3600;
    ahead.at += 3;
  }
  walk = ahead;
  return seconds;
}

Stamp made(const Walk& walk, size_t begin, const Date& date, double clock) {
  Stamp stamp;
  stamp.kind = date.year > 0 ? Stamp::Kind::epoch : Stamp::Kind::elapsed;
  stamp.seconds = seconds_of(date) + clock;
  stamp.length = walk.at - begin;
  return stamp;
}

bool sane(const Date& date) {
  return date.month >= 1 && date.month <= 12 && date.day >= 1 && date.day <= 31;
}

// A zone and the year behind the clock: " UTC 2026", " +0100 2026", " GMT".
void take_tail(Walk& walk, Date& date) {
  Walk ahead = walk;
  ahead.blanks();
  const std::string_view zone = ahead.word();
  if (zone.size() >= 2 && zone.size() <= 5 && zone.front() <= 'Z' && month_named(zone) == 0) {
    walk = ahead;
  } else {
    ahead = walk;
  }
  if (date.year > 0) return;
  ahead.blanks();
  const int year = ahead.number(4);
  if (!is_year(year)) return;
  date.year = year;
  walk = ahead;
}

// From a weekday or a month's name on.
std::optional<Stamp> named_date(std::string_view line, size_t at) {
  Walk walk{line, at};
  Date date;
  std::string_view word = walk.word();
  if (is_weekday(word) && month_named(word) == 0) {
    if (walk.peek() == ',') ++walk.at;
    walk.blanks();
    date.day = is_digit(walk.peek()) ? walk.number(2) : 0;
    walk.blanks();
    word = walk.word();
  }
  date.month = month_named(word);
  if (date.month == 0) return std::nullopt;
  if (walk.peek() == '.') ++walk.at;
  walk.blanks();
  if (date.day == 0) date.day = walk.number(2);
  if (!sane(date)) return std::nullopt;
  Walk ahead = walk;
  if (ahead.peek() == ',') ++ahead.at;
  ahead.blanks();
  if (const int year = ahead.number(4); is_year(year)) {
    date.year = year;
    walk = ahead;
  }
  // "Dec 12:00:01" of "14 Dec 12:00:01": an hour, no day.
  if (date.year == 0 && walk.peek() == ':') return std::nullopt;
  const auto clock = clock_after(walk);
  if (!clock) return std::nullopt;
  take_tail(walk, date);
  return made(walk, at, date, *clock);
}

// "8/24/2025, …", "24.08.2025 …", "23/Sep/2020:…", "6 Dec 2010 …", "6 Dec 10:00:01", "2026-11-15
// 10:00".
std::optional<Stamp> numbered_date(std::string_view line, size_t at) {
  Walk walk{line, at};
  Date date;
  const int first = walk.number(4);
  const char separator = walk.peek();
  if (first < 0 || (separator != '/' && separator != '.' && separator != '-' && separator != ' ')) {
    return std::nullopt;
  }
  ++walk.at;
  if (is_letter(walk.peek())) {
    date.day = first;
    date.month = month_named(walk.word());
    if (date.month == 0 || walk.peek() != separator) return std::nullopt;
  } else {
    if (separator == ' ') return std::nullopt;
    const int second = walk.number(2);
    if (second < 0 || walk.peek() != separator) return std::nullopt;
    date.month = second;
    if (is_year(first)) {
      date.year = first;
    } else if (separator == '/' && first <= 12) {
      date.month = first;
      date.day = second;
    } else {
      date.day = first;
    }
  }
  ++walk.at;
  const Walk before_last = walk;
  const int last = walk.number(4);
  if (date.year > 0) {
    date.day = last;
  } else if (date.day > 0 && separator == ' ' && walk.peek() == ':') {
    walk = before_last;
  } else if (is_year(last) || (last >= 0 && last < 100 && separator != ' ')) {
    date.year = last < 100 ? last + 2000 : last;
  } else {
    return std::nullopt;
  }
  if (!sane(date)) return std::nullopt;
  const auto clock = clock_after(walk);
  if (!clock) return std::nullopt;
  take_tail(walk, date);
  return made(walk, at, date, *clock);
}

// Most words and numbers are none, and three bytes say so.
bool may_be_named(std::string_view rest) {
  if (rest.size() < 8) return false;
  const auto key = [](char a, char b, char c) {
    return (static_cast<unsigned>(a) << 16) | (static_cast<unsigned>(b) << 8) |
           static_cast<unsigned>(c);
  };
  switch (key(ascii_lower(rest[0]), ascii_lower(rest[1]), ascii_lower(rest[2]))) {
    case key('j', 'a', 'n'):
    case key('f', 'e', 'b'):
    case key('m', 'a', 'r'):
    case key('a', 'p', 'r'):
    case key('m', 'a', 'y'):
    case key('j', 'u', 'n'):
    case key('j', 'u', 'l'):
    case key('a', 'u', 'g'):
    case key('s', 'e', 'p'):
    case key('o', 'c', 't'):
    case key('n', 'o', 'v'):
    case key('d', 'e', 'c'):
    case key('m', 'o', 'n'):
    case key('t', 'u', 'e'):
    case key('w', 'e', 'd'):
    case key('t', 'h', 'u'):
    case key('f', 'r', 'i'):
    case key('s', 'a', 't'):
    case key('s', 'u', 'n'):
      return true;
    default:
      return false;
  }
}

bool may_be_numbered(std::string_view rest) {
  size_t digits = 1;
  while (digits < 5 && digits < rest.size() && is_digit(rest[digits])) ++digits;
  if (digits > 4 || digits + 3 > rest.size()) return false;
  const char c = rest[digits];
  if (c == ' ') return digits <= 2 && is_letter(rest[digits + 1]);
  return c == ':' || c == '-' || c == '/' || c == '.';
}

}  // namespace

bool may_be_stamp(std::string_view line, size_t at) {
  const std::string_view rest = line.substr(at);
  if (rest.empty()) return false;
  if (is_letter(rest.front())) return may_be_named(rest);
  if (!is_digit(rest.front()) || !may_be_numbered(rest)) return false;
  if (rest.find(':') == std::string_view::npos) return false;
  Walk walk{line, at};
  walk.number(4);
  const char separator = walk.peek();
  ++walk.at;
  if (is_letter(walk.peek())) return separator != ':' && month_named(walk.word()) != 0;
  // What follows is two digits and the same again, in "13:18:25" as in "2025-10-20".
  return walk.number(2) >= 0 && walk.peek() == separator;
}

std::optional<Stamp> stamp_at(std::string_view line, size_t at) {
  const std::string_view rest = line.substr(at);
  if (rest.empty()) return std::nullopt;
  if (is_letter(rest.front())) return may_be_named(rest) ? named_date(line, at) : std::nullopt;
  if (!is_digit(rest.front()) || !may_be_numbered(rest)) return std::nullopt;
  if (const auto stamp = parse_stamp(rest)) return stamp;
  return numbered_date(line, at);
}

}  // namespace plateau
