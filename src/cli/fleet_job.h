// SPDX-License-Identifier: Apache-2.0
// `plateau fleet --job ID`: one verdict on all ranks of a job, from a database.
#pragma once

#include "cli/fleet_request.h"

namespace plateau {

// Returns the exit code. Requires: request.job is not empty.
int judge_job_of_fleet(const Invocation& invocation, const FleetRequest& request);

}  // namespace plateau
