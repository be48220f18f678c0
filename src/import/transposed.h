// SPDX-License-Identifier: Apache-2.0
// Tables in which time runs to the right: the header holds the times, each row is one figure.
//
//   process,10:00:00,10:00:05,10:00:10
//   CPU %,12.5,7.9,13.4
//   RSS (MB),310.5,316.2,322.9
//
// The rows that are named most like memory are taken (slot_name.h); several of equal weight are
// series of their own. Blind spot: percent without a total, shown as if of 16 GB.
#pragma once

#include <string_view>

#include "import/line_reader.h"
#include "import/readers.h"

namespace plateau {

// Requires: the head of a text. True if its first line is such a header and a row below is memory.
bool looks_transposed(std::string_view head);

Result<Runs> read_transposed(LineReader& lines);

}  // namespace plateau
