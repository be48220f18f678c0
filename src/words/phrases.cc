// SPDX-License-Identifier: Apache-2.0
#include "words/phrases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"

namespace plateau {
namespace {

// A span that begins earlier than this begins with the job.
constexpr double kStartSeconds = 0.5;

struct Pace {
  double scale = 1;
  std::string_view unit;
};

// Seconds are a poor unit for slow growth: 0.02 MB/s is 72 MB/h.
Pace pace_of(Clock clock, double mb_per_step) {
  if (clock == Clock::steps) return {1, "step"};
  if (clock == Clock::samples) return {1, "sample"};
  const double magnitude = std::fabs(mb_per_step);
  if (magnitude >= 1) return {1, "s"};
  if (magnitude * 60 >= 1) return {60, "min"};
  return {3600, "h"};
}

// "17.4 GB" -> {"17.4", "GB"}.
std::pair<std::string, std::string> split_unit(const std::string& amount) {
  const size_t space = amount.rfind(' ');
  if (space == std::string::npos) return {amount, ""};
  return {amount.substr(0, space), amount.substr(space + 1)};
}

std::string joined(double low, double high, std::string_view dash) {
  const auto [low_digits, low_unit] = split_unit(format_mb(low));
  const auto [high_digits, high_unit] = split_unit(format_mb(high));
  if (low_unit == high_unit) {
    return fmt::format("{}{}{} {}", low_digits, dash, high_digits, high_unit);
  }
  return fmt::format("{} {}{}{} {}", low_digits, low_unit, dash, high_digits, high_unit);
}

// The dash between two numbers; spaced when the first is negative or carries a unit of its own.
std::string_view dash_for(double low, double high) {
  const bool same_unit = split_unit(format_mb(low)).second == split_unit(format_mb(high)).second;
  return low < 0 || !same_unit ? " to " : "–";
}

}  // namespace

std::string word_upper(Word word) {
  std::string name(word_name(word));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return name;
}

std::string count_phrase(double value) {
  if (!std::isfinite(value)) return "?";
  if (std::fabs(value) < 10 && std::fabs(value - std::round(value)) > 0.05) {
    return fmt::format("{:.1f}", value);
  }
  return format_count(static_cast<int64_t>(std::llround(std::clamp(value, -1e15, 1e15))));
}

std::string confidence_phrase(double confidence) {
  return confidence == 0 ? "-" : percent_phrase(confidence);
}

std::string_view likelihood_phrase(double weight) {
  if (weight >= 0.5) return "likely";
  return weight >= 0.2 ? "possible" : "less likely";
}

std::string percent_phrase(double share) {
  if (!std::isfinite(share)) return "? %";
  const double percent = 100 * std::clamp(share, 0.0, 1.0);
  if (percent > 99.94) return "> 99.9 %";
  if (percent >= 98.95) return fmt::format("{:.1f} %", percent);
  if (percent < 1 && percent > 0) return "< 1 %";
  return fmt::format("{:.0f} %", percent);
}

std::string moment_phrase(Clock clock, double at) {
  switch (clock) {
    case Clock::steps:
      return "step " + count_phrase(at);
    case Clock::seconds:
      return format_seconds(at);
    case Clock::samples:
      return "sample " + count_phrase(at + 1);
  }
  return count_phrase(at);
}

std::string span_phrase(Clock clock, double from, double to) {
  if (clock == Clock::seconds) {
    if (from < kStartSeconds) return "the first " + format_seconds(to);
    return fmt::format("{} to {}", format_seconds(from), format_seconds(to));
  }
  if (clock == Clock::samples) {
    return fmt::format("samples {}–{}", count_phrase(from + 1), count_phrase(to + 1));
  }
  return fmt::format("steps {}–{}", count_phrase(from), count_phrase(to));
}

std::string length_phrase(Clock clock, double length) {
  if (clock == Clock::seconds) return format_seconds(length);
  const std::string number = count_phrase(length);
  return fmt::format("{} {}{}", number, clock == Clock::steps ? "step" : "sample",
                     number == "1" ? "" : "s");
}

std::string rate_phrase(Clock clock, double mb_per_step) {
  const Pace pace = pace_of(clock, mb_per_step);
  return fmt::format("{}/{}", format_mb_signed(mb_per_step * pace.scale), pace.unit);
}

std::string rate_range_phrase(Clock clock, const Interval& range) {
  const double widest = std::max(std::fabs(range.low), std::fabs(range.high));
  const Pace pace = pace_of(clock, widest);
  const double low = range.low * pace.scale;
  const double high = range.high * pace.scale;
  return fmt::format("{}/{}", joined(low, high, dash_for(low, high)), pace.unit);
}

std::string from_to_phrase(double from_mb, double to_mb) {
  return joined(from_mb, to_mb, " → ");
}

std::string range_phrase(const Interval& range) {
  std::string low = format_mb(range.low);
  if (low == format_mb(range.high)) return low;
  return joined(range.low, range.high, dash_for(range.low, range.high));
}

std::string band_phrase(double mb, const Interval& range) {
  const double half = (range.high - range.low) / 2;
  std::string level = format_mb(mb);
  const auto [half_digits, half_unit] = split_unit(format_mb(half));
  const auto [level_digits, level_unit] = split_unit(level);
  if (!std::isfinite(half) || half <= 0) return level;
  // The half width in the level's unit when it shows there at all: "17.4 GB ± 0.3".
  if (level_unit == "GB" && half_unit == "MB" && half >= 50) {
    return fmt::format("{} ± {:.1f}", level, half / 1000);
  }
  if (level_unit == half_unit) return fmt::format("{} ± {}", level, half_digits);
  return fmt::format("{} ± {} {}", level, half_digits, half_unit);
}

std::string measure_phrase(const Measure& measure) {
  std::string text(measure.what);
  if (measure.with_swap) text += " + swap";
  if (measure.processes > 1) text += fmt::format(", summed over {} processes", measure.processes);
  return text;
}

std::string process_phrase(const ProcessGrowth& process) {
  const std::string number =
      fmt::format("{} {}", process.id_is_pid ? "pid" : "process", process.id);
  std::string details = process.name.empty() ? "" : number;
  if (process.role != Role::unknown) {
    details += (details.empty() ? "" : ", ") + std::string(role_name(process.role));
  }
  const std::string& label = process.name.empty() ? number : process.name;
  return details.empty() ? label : fmt::format("{} ({})", label, details);
}

std::string since_phrase(const Verdict& verdict) {
  const std::optional<double> settled =
      verdict.settled ? std::optional(verdict.settled->step) : std::nullopt;
  const std::optional<double>& at = settled ? settled : verdict.onset_step;
  if (!at) return "";
  const std::string state = settled ? "level" : "growing";
  if (*at <= verdict.first_step) return state + " from the start";
  return state + " since " + moment_phrase(verdict.clock, *at);
}

}  // namespace plateau
