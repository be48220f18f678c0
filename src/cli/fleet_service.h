// SPDX-License-Identifier: Apache-2.0
// `plateau fleet --every T --listen ADDR:PORT`: round after round, and what was found over HTTP.
#pragma once

#include "cli/fleet_request.h"

namespace plateau {

// Until Ctrl-C or SIGTERM. Returns the exit code.
int serve_fleet(const Invocation& invocation, FleetRequest& request);

}  // namespace plateau
