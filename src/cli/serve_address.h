// SPDX-License-Identifier: Apache-2.0
// Where to serve and for whom: what `plateau serve` and `plateau run --serve` have in common.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "command/verb.h"
#include "serve/server.h"

namespace plateau {

// "PLAT" on a telephone's keys; outside the ports of Prometheus and its exporters.
inline constexpr uint16_t kServePort = 7528;

// Address, port and token. `listen` empty: the default, which may give way to a free port. A token
// comes from `token`, or from PLATEAU_TOKEN; one is made up if the address can be reached from
// outside and neither is given.
Result<ServeOptions> serve_at(const std::string& listen, const std::optional<std::string>& token);

// Starts a server. If nobody chose the port and it is taken, at one that the kernel picks;
// `moved` says so.
struct StartedServer {
  Server server;
  bool moved = false;
};
Result<StartedServer> start_server(const ServeOptions& options, bool port_was_chosen);

}  // namespace plateau
