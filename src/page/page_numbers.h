// SPDX-License-Identifier: Apache-2.0
// Numbers in the page's document: as many digits as a reader can see, so that the file stays small.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/json_writer.h"
#include "recording/run.h"
#include "verdict/verdict.h"

namespace plateau {

// Six significant digits; null if it is not finite.
void write_rounded(JsonWriter& json, double value);
void write_rounded(JsonWriter& json, const std::optional<double>& value);
void write_rounded(JsonWriter& json, std::span<const double> values);

// A value of the clock, or a list of them: whole where it counts steps or samples, to the
// microsecond where it is time.
void write_moment(JsonWriter& json, double at);
void write_moment(JsonWriter& json, const std::optional<double>& at);
void write_moments(JsonWriter& json, std::span<const double> at);

// Made harmless, null if it is empty.
void write_text(JsonWriter& json, std::string_view text);

}  // namespace plateau
