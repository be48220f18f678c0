// SPDX-License-Identifier: Apache-2.0
#include "command/time_limit.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>

namespace plateau {
namespace {

constexpr double kDay = 86400;

// Takes digits (and a fraction, if allowed) off the front; nullopt if there are none.
std::optional<double> take_number(std::string_view& text, bool fraction) {
  size_t length = 0;
  bool dot = false;
  for (; length < text.size(); ++length) {
    if (text[length] == '.' && fraction && !dot) {
      dot = true;
    } else if (text[length] < '0' || text[length] > '9') {
      break;
    }
  }
  double value = 0;
  const std::string_view digits = text.substr(0, length);
  const auto read = std::from_chars(digits.begin(), digits.end(), value);
  if (digits.empty() || read.ec != std::errc() || read.ptr != digits.end()) return {};
  text.remove_prefix(length);
  return value;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<double> unit_seconds(char unit) {
  constexpr std::array<std::pair<char, double>, 4> kUnits = {
      {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', kDay}}};
  for (const auto& [letter, seconds] : kUnits) {
    if (letter == unit) return seconds;
  }
  return std::nullopt;
}

std::optional<double> parse_elapsed(std::string_view text) {
  double total = 0;
  if (text.empty()) return std::nullopt;
  for (bool first = true; !text.empty(); first = false) {
    const std::optional<double> number = take_number(text, true);
    if (!number) return std::nullopt;
    // A bare number is seconds, but only alone: "1h30" could mean minutes or seconds.
    if (text.empty()) return first ? number : std::nullopt;
    const std::optional<double> unit = unit_seconds(text.front());
    if (!unit) return std::nullopt;
    text.remove_prefix(1);
    total += *number * *unit;
  }
  return total;
}

// "13:18" or "13:18:25.5" off the front.
std::optional<double> take_time_of_day(std::string_view& text) {
  const std::optional<double> hour = take_number(text, false);
  if (!hour || *hour > 24 || !take(text, ':')) return std::nullopt;
  const std::optional<double> minute = take_number(text, false);
  if (!minute || *minute > 59) return std::nullopt;
  double second = 0;
  if (take(text, ':')) {
    const std::optional<double> given = take_number(text, true);
    if (!given || *given >= 61) return std::nullopt;
    second = *given;
  }
  return *hour * 3600 + *minute * 60 + second;
}

// Days since 1970 of a date in the Gregorian calendar, by counting from March, so that the leap
// day is the last of its year.
double days_since_1970(int64_t year, int64_t month, int64_t day) {
  const int64_t y = month > 2 ? year : year - 1;
  const int64_t m = month > 2 ? month - 3 : month + 9;
  const int64_t leap_days = y / 4 - y / 100 + y / 400;
  // 719,468 days lie between 1 March of year 0 and 1 January 1970.
  const int64_t days_before_month = (153 * m + 2) / 5;
  return static_cast<double>(365 * y + leap_days + days_before_month + day - 1 - 719468);
}

// Seconds east of UTC that "Z", "+02:00" or "" stand for.
std::optional<double> parse_zone(std::string_view text) {
  if (text.empty() || text == "Z" || text == "z") return 0;
  const double sign = text.front() == '-' ? -1 : 1;
  if (!take(text, '+') && !take(text, '-')) return std::nullopt;
  const std::optional<double> offset = take_time_of_day(text);
  if (!offset || !text.empty()) return std::nullopt;
  return sign * *offset;
}

std::optional<double> parse_date(std::string_view text) {
  std::array<double, 3> parts = {};
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::optional<double> number = take_number(text, false);
    if (!number || (i < 2 && !take(text, '-'))) return std::nullopt;
    parts[i] = *number;
  }
  const auto [year, month, day] = parts;
  if (year < 1970 || year > 9999 || month < 1 || month > 12 || day < 1 || day > 31) return {};
  const double days = days_since_1970(static_cast<int64_t>(year), static_cast<int64_t>(month),
                                      static_cast<int64_t>(day));
  if (text.empty()) return days * kDay;
  if (!take(text, 'T') && !take(text, ' ')) return std::nullopt;
  const std::optional<double> time = take_time_of_day(text);
  if (!time) return std::nullopt;
  const std::optional<double> zone = parse_zone(text);
  if (!zone) return std::nullopt;
  return days * kDay + *time - *zone;
}

}  // namespace

std::optional<TimeLimit> parse_time_limit(std::string_view text) {
  if (const std::optional<double> elapsed = parse_elapsed(text)) {
    return TimeLimit{TimeLimit::Kind::elapsed, *elapsed};
  }
  std::string_view rest = text;
  const std::optional<double> clock = take_time_of_day(rest);
  if (clock && rest.empty()) return TimeLimit{TimeLimit::Kind::clock, *clock};
  if (const std::optional<double> date = parse_date(text)) {
    return TimeLimit{TimeLimit::Kind::date, *date};
  }
  return std::nullopt;
}

}  // namespace plateau
