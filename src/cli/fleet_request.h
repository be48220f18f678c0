// SPDX-License-Identifier: Apache-2.0
// What `plateau fleet` was asked for.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "command/verb.h"
#include "fleet/fleet_report.h"
#include "fleet/round.h"

namespace plateau {

struct FleetRequest {
  fleet::Access access;
  fleet::RoundOptions round;
  fleet::Asked asked;
  std::optional<double> at_s;  // The end of the window, since 1970; now where it is empty.
  std::string job;             // One job, instead of the fleet; empty: none.
  bool json = false;
  bool quiet = false;
  std::string page;  // A file; empty: none.
  std::optional<double> every_s;
  std::string listen;
  size_t most_undecided = 5;
  View view;
};

Options fleet_options();
Result<FleetRequest> fleet_request(const Invocation& invocation);

}  // namespace plateau
