// SPDX-License-Identifier: Apache-2.0
// The ranks of one job as a database knows them, as runs to be judged together.
//
// `plateau run --push` labels what it sends with plateau_job, rank, node and attempt. Three
// questions, what was owned, which step it was, what the limit is, give a run for each set of
// labels; from there on it is the way that recordings go (answer/job_run.h). Marks are not in a
// database: rank 0's growth at checkpoints is told apart by recordings only.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/database.h"
#include "recording/run.h"

namespace plateau::fleet {

struct JobQuestion {
  std::string job;
  double end_s = 0;  // Since 1970.
  double window_s = 6 * 3600;
};

// By rising labels. Fails if the database does not answer, or knows nothing of such a job. What it
// warns of becomes a note of the first run.
Result<std::vector<Run>> runs_of_job(Database& database, const JobQuestion& question);

}  // namespace plateau::fleet
