// SPDX-License-Identifier: Apache-2.0
// Numbers in the page's document: as many digits as a reader can see, so that the file stays small.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "recording/run.h"
#include "verdict/verdict.h"

namespace plateau {

// Values for JsonWriter::members(). Six significant digits; null if it is not finite or missing.
struct Rounded {
  explicit Rounded(std::optional<double> given) : number(given.value_or(kMissing)) {}
  void operator()(JsonWriter& json) const;
  double number;
};

// A value of the clock: whole where it counts steps or samples, to the microsecond where it is
// time.
struct Moment {
  explicit Moment(std::optional<double> given) : at(given.value_or(kMissing)) {}
  void operator()(JsonWriter& json) const;
  double at;
};

// Lists of them.
std::vector<Rounded> rounded(std::span<const double> values);
std::vector<Moment> moments(std::span<const double> values);

// Made harmless, null if it is empty.
std::optional<std::string> harmless(std::string_view text);

}  // namespace plateau
