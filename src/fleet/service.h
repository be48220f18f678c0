// SPDX-License-Identifier: Apache-2.0
// What the last round found, over HTTP: the page, the findings, metrics.
//
// libmicrohttpd answers from a thread of its own, so that a round of a minute keeps nobody waiting;
// it only hands out texts that were made when the round ended. Read-only, and with the same rules
// of access as `plateau serve`.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "fleet/fleet_report.h"
#include "serve/access.h"
#include "serve/listener.h"

namespace plateau::fleet {

class Service {
 public:
  // Binds and listens. Requires: a token unless the address is a loopback one.
  static Result<Service> start(ListenAddress address, std::string token);

  Service(Service&&) noexcept;
  Service& operator=(Service&&) noexcept;
  ~Service();

  // "http://127.0.0.1:7529/", with the token if there is one.
  [[nodiscard]] std::string url() const;

  // What is handed out from now on. `answer` may be null: the round failed, and what was found
  // before stays.
  void show(const FleetAnswer* answer, const Asked& asked, const ServiceFigures& figures);

 private:
  struct State;
  explicit Service(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace plateau::fleet
