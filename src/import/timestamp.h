// SPDX-License-Identifier: Apache-2.0
// Times as logs write them: clock times, dates, seconds since 1970.
//
// A date without a zone is read as UTC: only differences matter, and a log does not say where it
// was written. A clock time alone ("13:18:25") counts from its midnight; TimeTrack carries it over
// the next ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace plateau {

struct Stamp {
  enum class Kind : uint8_t {
    day,      // Seconds since an unknown midnight.
    epoch,    // Seconds since 1970.
    elapsed,  // Seconds since something the log knows.
  };
  Kind kind = Kind::day;
  double seconds = 0;
  size_t length = 0;  // Bytes of text that were read.
};

// Reads "13:18:25", "13:18:25.250", "01:18:25 PM", "2025-10-20 13:18:25,250",
// "2025/10/20T13:18:25Z" or "…+02:00" at the very start of `text`.
std::optional<Stamp> parse_stamp(std::string_view text);

// A number that can only be seconds, milli-, micro- or nanoseconds since 1970 (2001 to 2128).
std::optional<double> epoch_seconds(double number);

// Finds a time in a line that holds little else: the output of `date` in any common locale, a
// stamp, or seconds since 1970. Nullopt for a line with other content.
std::optional<Stamp> parse_date_line(std::string_view line);

// Days since 1970-01-01 of a date in the Gregorian calendar.
int64_t days_from_civil(int64_t year, int month, int day);

// Turns the stamps of one log into times that can be compared. The first stamp fixes the kind; a
// stamp of another kind cannot be placed among them and gives NaN. Times of day are made monotone:
// a jump back by more than twelve hours is a midnight.
class TimeTrack {
 public:
  double accept(const Stamp& stamp);
  [[nodiscard]] bool counts_from_1970() const { return kind_ == Stamp::Kind::epoch; }

 private:
  std::optional<Stamp::Kind> kind_;
  double last_ = -1;   // Of the seconds of a day,
  double offset_ = 0;  // and the days that have passed.
};

}  // namespace plateau
