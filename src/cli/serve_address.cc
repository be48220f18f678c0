// SPDX-License-Identifier: Apache-2.0
#include "cli/serve_address.h"

#include <cstdlib>

#include "cli/find_recording.h"
#include "serve/access.h"

namespace plateau {

Result<ServeOptions> serve_at(const std::string& listen, const std::optional<std::string>& token) {
  ServeOptions options;
  options.port = kServePort;
  if (!listen.empty()) {
    const Result<ListenAddress> address = parse_listen(listen, kServePort);
    if (!address) return address.error();
    options.address = address.value().address;
    options.port = address.value().port;
  }
  const char* from_environment = std::getenv("PLATEAU_TOKEN");
  options.token = token.value_or(from_environment == nullptr ? "" : from_environment);
  if (!options.token.empty() && !is_usable_token(options.token)) {
    return usage_error(
        "a token is 16 to 256 letters, digits, '-', '.', '_' or '~', at least 8 different ones and "
        "no common word; without one, Plateau makes one");
  }
  if (options.token.empty() && !is_loopback(options.address)) {
    const Result<std::string> made = make_token();
    if (!made) return made.error();
    options.token = made.value();
  }
  options.open_recordings = [] { return open_recordings(); };
  return options;
}

Result<StartedServer> start_server(const ServeOptions& options, bool port_was_chosen) {
  Result<Server> server = Server::start(options);
  if (server) return StartedServer{std::move(server.value()), false};
  if (port_was_chosen || server.error().kind != Error::Kind::not_found) return server.error();
  ServeOptions anywhere = options;
  anywhere.port = 0;
  Result<Server> moved = Server::start(anywhere);
  if (!moved) return moved.error();
  return StartedServer{std::move(moved.value()), true};
}

}  // namespace plateau
