// SPDX-License-Identifier: Apache-2.0
#include "page/page_numbers.h"

#include <fmt/format.h>

#include <cmath>

#include "report/text.h"

namespace plateau {
namespace {

constexpr double kMicro = 1e6;
// Beyond this a double cannot hold microseconds, nor does anybody look at them.
constexpr double kMostWithFraction = 1e9;

}  // namespace

void Rounded::operator()(JsonWriter& json) const {
  if (!std::isfinite(number)) {
    json.null();
    return;
  }
  char text[32];
  const auto end = fmt::format_to_n(text, sizeof text, "{:.6g}", number).out;
  json.embed(std::string_view(text, static_cast<size_t>(end - text)));
}

void Moment::operator()(JsonWriter& json) const {
  const bool plain = !(std::fabs(at) < kMostWithFraction);
  json.value(plain ? at : std::round(at * kMicro) / kMicro);
}

std::vector<Rounded> rounded(std::span<const double> values) {
  return {values.begin(), values.end()};
}

std::vector<Moment> moments(std::span<const double> values) {
  return {values.begin(), values.end()};
}

std::optional<std::string> harmless(std::string_view text) {
  std::string clean = printable(text);
  return clean.empty() ? std::nullopt : std::optional(std::move(clean));
}

}  // namespace plateau
