// SPDX-License-Identifier: Apache-2.0
// What `plateau prove` has shown, for people and as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/prove_request.h"
#include "prove/trial.h"
#include "recording/holder.h"

namespace plateau {

// What is about to be done, before it is.
std::string intention_of(const ProveRequest& request);

struct ProveReport {
  ProveResult result;
  double seconds = 0;
  int64_t other_batch = 0;  // With two runs of the job: examples of a batch in the first.
  bool ended_by_us = false;
  std::string ending;           // How the job ended, where that was not our doing: "exit code 1".
  HolderGrowth holders;         // What grew meanwhile, of the process that grew most.
  std::string holders_missing;  // Why they were not looked at; empty if they were.
};

std::string prove_text(const ProveReport& report, const ProveRequest& request);
std::string prove_json(const ProveReport& report, const ProveRequest& request);

// Why there is nothing to report at all, with what to try; empty if there is something.
std::string nothing_proved(const ProveReport& report, const ProveRequest& request);

}  // namespace plateau
