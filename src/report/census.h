// SPDX-License-Identifier: Apache-2.0
// A census for a reader: Python objects by type, and what became of them between two censuses.
//
//   pid 4242: CPython 3.11, 1,512,645 objects of 231 types; stopped 124 ms
//
//      OBJECTS     SIZE  TYPE
//      750,110  54.6 MB  list
//      ...
//
// Names of types come from the target and are made harmless here.
#pragma once

#include <string>

#include "census/census.h"
#include "report/text.h"

namespace plateau {

// Two censuses of one process.
struct CensusPair {
  const Census& before;
  const Census& after;
  double seconds = 0;  // Between the two.
};

// Several lines, each ended by a newline. At most `top` types; the others are summed in one line.
std::string render_census(const Census& census, const View& view, size_t top);
// Types that grew, the most growing first.
std::string render_census_growth(const CensusPair& pair, const View& view, size_t top);

// One JSON object without a line end. `top` 0: all types. docs/report-fields.md explains each key.
std::string census_json(const Census& census, size_t top);
std::string census_growth_json(const CensusPair& pair, size_t top);

}  // namespace plateau
