// SPDX-License-Identifier: Apache-2.0
// The same hours of an earlier day: does memory climb every morning?
//
// Question: six hours of a steady climb are a leak, or the morning's traffic. By the curve alone
// nothing tells them apart (verdict/load.h), and nearly every service has such mornings.
//
// Method. What was held at the same times a day before, or a week, is laid beside today's curve.
//   - It was flat at those hours: whatever climbs today is not the time of day.
//   - It climbed alike, from about the same level: that is the day's wave, and it is taken off
//   today's
//     memory. Days differ, so as much of it is taken as fits today best, from two thirds to half as
//     much again; a leak is what goes up besides.
//   - It climbed alike, but from a level that lies lower by what such a climb adds in a day, and
//   the
//     process is the same: it never came down at night. The growth of a day is taken off the
//     earlier curve, and what is left of it is the wave.
//   - It climbed, and the process is another one: a leak that is restarted every night looks just
//     like that. Nothing is known.
//
// Worked case: 500 MB at 6:00 and 800 MB at noon, on both days: a wave of 300 MB. 500 to 800 MB
// today and 700 MB less at each time yesterday: 29 MB an hour for 24 hours, of which six make 175
// MB of today's 300; the other 125 were yesterday's climb without those.
//
// Blind spot: a wave that is not daily, and the first Monday of a month.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "fleet/query_answer.h"

namespace plateau::fleet {

// What told the load of a series, for the report.
enum class LoadSource : uint8_t { none, day_before, week_before, work };
std::string_view load_source_name(LoadSource source);  // "none", "day before", ...

struct EarlierDay {
  std::vector<Sample> samples;  // On today's clock: moved by `days`.
  double days = 1;
  bool same_life = false;  // The same process, which ran all the time between.
};

// What of today's memory is the day's wave, in MB, never negative; 0 all along if there is none.
// Empty where the earlier day says nothing about today.
std::optional<std::vector<Sample>> wave_of(const EarlierDay& earlier,
                                           const std::vector<Sample>& today);

// The samples without the wave.
void take_off(const std::vector<Sample>& wave, std::vector<Sample>& samples);

}  // namespace plateau::fleet
