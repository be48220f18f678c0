// SPDX-License-Identifier: Apache-2.0
// The one answer to all recordings of a job.
#pragma once

#include <optional>
#include <span>

#include "answer/answer.h"
#include "recording/run.h"

namespace plateau {

// answer_run(job), and, where one rank leaks, with what only its own recording knows: the place in
// its code, and who holds what grew. Requires: `job` is job_run(runs).
Answer answer_job(const Run& job, std::span<const Run> runs, const AnswerOptions& options = {});

// Of the recordings that `answer` speaks of, the latest of the rank that is most worth a look: the
// one that leaks, or else the one that was told apart. None if no rank is odd.
std::optional<size_t> telling_recording(const Answer& answer, std::span<const Run> runs);

}  // namespace plateau
