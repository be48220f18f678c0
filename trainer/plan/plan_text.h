// SPDX-License-Identifier: Apache-2.0
// A plan for readers: a table, JSON, and beside what was measured.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trainer/plan/plan.h"

namespace plateau::train {

// Bytes by the name of a line; what was not measured is absent. "resident" and "peak" are of the
// process, "rest" is what of the peak no line accounts for (below 0: lines that peaked at different
// times, or pages that were never touched).
using Measurements = std::map<std::string, int64_t>;

// Measurements with "rest", if they have a "peak".
Measurements with_rest(const Plan& plan, Measurements measured);

// `measured` adds a column. `width` is that of the terminal; formulas go on below themselves.
std::string plan_table(const Plan& plan, const Measurements* measured, size_t width);

std::string plan_json(const Plan& plan, const PlanRequest& request,
                      const std::vector<PlanChange>& changes, std::optional<int64_t> limit_bytes);

// "Packed: 2,400 examples in 210 rows of up to 2,048 tokens, 27 steps an epoch."; empty if nothing
// is packed, or the data is not known.
std::string packing_text(const PlanRequest& request, int64_t accumulate, int64_t processes);

// "Fits 16 GB: ..." or what to change, line by line.
std::string fit_text(const Plan& plan, const std::vector<PlanChange>& changes, int64_t limit_bytes);

}  // namespace plateau::train
