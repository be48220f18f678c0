// SPDX-License-Identifier: Apache-2.0
// CSV whose quoted fields may hold line ends, as examples of text do; a row becomes a JSON object
// with the header's names.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace plateau {

// `row` gets the line where the row begins and its fields by name, as JSON; false stops. A row with
// more or fewer fields than the header is an error in its place, and the reading goes on behind it.
using OnCsvRow = std::function<bool(size_t line, const Result<std::string>& json)>;
Result<void> each_csv_row(std::string_view text, char separator, const OnCsvRow& row);

}  // namespace plateau
