// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <ctime>

#include "base/text.h"

namespace plateau {
namespace {

struct Unit {
  std::string_view word;
  double mb;
};

constexpr double kKi = 1024.0;
constexpr std::array<Unit, 34> kUnits = {{
    {"b", 1e-6},
    {"byte", 1e-6},
    {"bytes", 1e-6},
    {"kb", 1e-3},
    {"mb", 1.0},
    {"gb", 1e3},
    {"tb", 1e6},
    {"k", kKi / 1e6},
    {"m", kKi* kKi / 1e6},
    {"g", kKi* kKi* kKi / 1e6},
    {"t", kKi* kKi* kKi* kKi / 1e6},
    {"ki", kKi / 1e6},
    {"mi", kKi* kKi / 1e6},
    {"gi", kKi* kKi* kKi / 1e6},
    {"ti", kKi* kKi* kKi* kKi / 1e6},
    {"kib", kKi / 1e6},
    {"mib", kKi* kKi / 1e6},
    {"gib", kKi* kKi* kKi / 1e6},
    {"tib", kKi* kKi* kKi* kKi / 1e6},
    {"megabytes", 1.0},
    {"gigabytes", 1e3},
    {"kilobytes", 1e-3},
    {"megabyte", 1.0},
    {"gigabyte", 1e3},
    {"kilobyte", 1e-3},
    // Schedulers write "MEM: 812 Mbytes".
    {"kbytes", 1e-3},
    {"mbytes", 1.0},
    {"gbytes", 1e3},
    {"kbyte", 1e-3},
    {"mbyte", 1.0},
    {"gbyte", 1e3},
    // French: "Mio", of 1024 octets each way.
    {"kio", kKi / 1e6},
    {"mio", kKi* kKi / 1e6},
    {"gio", kKi* kKi* kKi / 1e6},
}};

// Three significant digits, trailing zeros kept so that columns line up: 5.43, 17.7, 532.
std::string three_digits(double value) {
  const double magnitude = std::fabs(value);
  if (magnitude >= 99.95) return fmt::format("{:.0f}", value);
  if (magnitude >= 9.995) return fmt::format("{:.1f}", value);
  if (magnitude >= 0.995) return fmt::format("{:.2f}", value);
  return fmt::format("{:.3f}", value);
}

}  // namespace

std::optional<double> unit_in_mb(std::string_view word) {
  for (const Unit& unit : kUnits) {
    if (equal_ignoring_case(word, unit.word)) return unit.mb;
  }
  // French octets, as they are written: "go" and "mo" are words.
  if (word == "Ko" || word == "ko") return 1e-3;
  if (word == "Mo") return 1.0;
  if (word == "Go") return 1e3;
  return std::nullopt;
}

std::optional<double> parse_memory_mb(std::string_view text, double bare_unit_mb) {
  text = trim(text);
  std::string digits;
  size_t end = 0;
  for (; end < text.size(); ++end) {
    const char c = text[end];
    const bool separator = (c == ',' || c == '_') && end > 0 && text.size() - end > 3;
    if ((c >= '0' && c <= '9') || c == '.') {
      digits.push_back(c);
    } else if (!separator) {
      break;
    }
  }
  double value = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size()) return std::nullopt;
  const std::string_view word = trim(text.substr(end));
  const std::optional<double> unit = word.empty() ? bare_unit_mb : unit_in_mb(word);
  if (!unit || !std::isfinite(value * *unit)) return std::nullopt;
  return value * *unit;
}

std::string format_mb(double mb) {
  const double magnitude = std::fabs(mb);
  if (!std::isfinite(mb)) return "?";
  if (magnitude >= 999.5e3) return three_digits(mb / 1e6) + " TB";
  if (magnitude >= 999.5) return three_digits(mb / 1e3) + " GB";
  if (magnitude >= 0.9995) return three_digits(mb) + " MB";
  if (magnitude >= 0.9995e-3) return three_digits(mb * 1e3) + " kB";
  return fmt::format("{:.0f} B", mb * 1e6);
}

std::string format_mb_signed(double mb) {
  return (mb >= 0 ? "+" : "") + format_mb(mb);
}

std::string format_count(int64_t n) {
  std::string digits = fmt::format("{}", n < 0 ? -n : n);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<size_t>(at), ",");
  }
  return n < 0 ? "-" + digits : digits;
}

std::string counted(uint64_t n, std::string_view noun) {
  return fmt::format("{} {}{}", format_count(static_cast<int64_t>(n)), noun, n == 1 ? "" : "s");
}

std::string format_seconds(double seconds) {
  if (!std::isfinite(seconds)) return "?";
  if (seconds < 99.5) return fmt::format("{:.0f} s", seconds);
  if (seconds < 99.5 * 60) return fmt::format("{:.0f} min", seconds / 60);
  if (seconds < 48 * 3600) return fmt::format("{:.1f} h", seconds / 3600);
  return fmt::format("{:.1f} days", seconds / 86400);
}

std::string format_utc(double unix_s) {
  constexpr double kYear1 = -62135596800;
  constexpr double kYear10000 = 253402300800;
  if (!(unix_s >= kYear1 && unix_s < kYear10000)) return "no date";
  const auto seconds = static_cast<std::time_t>(std::floor(unix_s));
  std::tm utc = {};
  gmtime_r(&seconds, &utc);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02} UTC", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min);
}

}  // namespace plateau
