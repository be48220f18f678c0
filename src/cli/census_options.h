// SPDX-License-Identifier: Apache-2.0
// What `run` and `watch` ask and say about looking into a job's Python objects (census_watch.h).
#pragma once

#include <string>

#include "base/result.h"
#include "command/verb.h"
#include "session/census_watch.h"

namespace plateau {

Options census_options();
// Of the job's time; 0 for --no-census.
Result<double> census_share(const Arguments& arguments);
// What was done to the job, or why it was not; empty if there was no cause to look. Of a job that
// is `over` no advice that needs its pid.
std::string census_sentence(const CensusWatch::Cost& cost, bool over = false);

}  // namespace plateau
