// SPDX-License-Identifier: Apache-2.0
#include "page/page_numbers.h"

#include <fmt/format.h>

#include <cmath>

#include "base/json_text.h"
#include "report/text.h"

namespace plateau {
namespace {

constexpr double kMicro = 1e6;
// Beyond this a double cannot hold microseconds, nor does anybody look at them.
constexpr double kMostWithFraction = 1e9;

}  // namespace

void write_rounded(JsonWriter& json, double value) {
  if (!std::isfinite(value)) {
    json.null();
    return;
  }
  char text[32];
  const auto end = fmt::format_to_n(text, sizeof text, "{:.6g}", value).out;
  json.embed(std::string_view(text, static_cast<size_t>(end - text)));
}

void write_rounded(JsonWriter& json, const std::optional<double>& value) {
  write_rounded(json, value.value_or(kMissing));
}

void write_rounded(JsonWriter& json, std::span<const double> values) {
  json.begin_array();
  for (const double value : values) write_rounded(json, value);
  json.end_array();
}

void write_moment(JsonWriter& json, double at) {
  const bool plain = !(std::fabs(at) < kMostWithFraction);
  json.value(plain ? at : std::round(at * kMicro) / kMicro);
}

void write_moment(JsonWriter& json, const std::optional<double>& at) {
  write_moment(json, at.value_or(kMissing));
}

void write_moments(JsonWriter& json, std::span<const double> at) {
  json.begin_array();
  for (const double each : at) write_moment(json, each);
  json.end_array();
}

void write_text(JsonWriter& json, std::string_view text) {
  text_or_null(json, printable(text));
}

}  // namespace plateau
