// SPDX-License-Identifier: Apache-2.0
// What the printed tables of ps, free, pidstat and top have in common: words in columns, and a time
// that stands before a line, between blocks of lines, or nowhere.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "import/timestamp.h"

namespace plateau {

// The words of a line; at most `limit`, the last of which is the rest of the line.
void split_words(std::string_view line, size_t limit, std::vector<std::string_view>& words);

// Takes a time (and brackets or a dash after it) off the start of the line.
std::optional<Stamp> take_leading_stamp(std::string_view& line);

// An amount as these tools print it: "123456" in `bare_unit_mb`, "1.2g", "15Gi". Nullopt if none.
std::optional<double> table_amount_mb(std::string_view word, double bare_unit_mb);

}  // namespace plateau
