// SPDX-License-Identifier: Apache-2.0
// What `plateau prove` was asked, as one struct.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "command/verb.h"
#include "report/text.h"
#include "session/supervisor.h"

namespace plateau {

Options prove_options();

// One way to run the job.
struct Arm {
  std::string name;                      // "0 workers", for the report.
  std::string wishes;                    // For the module: "workers=0".
  std::vector<std::string> environment;  // For the job.
};

// A factor that is varied instead of the batches.
struct ChosenContrast {
  std::string name;        // As given: "gc", "workers=0,2"; empty if there is none.
  std::string what;        // "gc.collect() after each step".
  std::vector<Arm> arms;   // Two, where the factor takes two runs of the job; else none.
  std::string leaves_out;  // The calls that it leaves out within one run; empty if it does not.
};

struct ProveRequest {
  SupervisorOptions job;
  int64_t steps = 0;
  ChosenContrast contrast;
  std::string repeat;    // A command that sends a request to a server; empty if there is none.
  std::string other;     // The same for requests that are new each time.
  int64_t requests = 0;  // Of one block.
  bool json = false;
  bool quiet = false;
  View view;  // Of standard output.
};

Result<ProveRequest> prove_request(const Arguments& arguments);

}  // namespace plateau
