// SPDX-License-Identifier: Apache-2.0
// Both datasets are looked at before the model is loaded, with a line that says how far it is.
#pragma once

#include <functional>

#include "base/result.h"
#include "command/output.h"
#include "trainer/cli/job.h"
#include "trainer/cli/request.h"

namespace plateau::train {

// An error names the first bad example and how many there are; with --skip-bad only a dataset
// without a good one is an error. `stop` ends the check early, without an error.
Result<std::monostate> check_datasets(const TrainRequest& request, const Job& job, Output& out,
                                      const std::function<bool()>& stop);

}  // namespace plateau::train
