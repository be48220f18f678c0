// SPDX-License-Identifier: Apache-2.0
// Recordings over HTTP: the live page, its data, verdicts, metrics. Read-only.
//
// A server reads files; it never watches a process itself. `plateau run --serve` and `plateau serve
// PID` start a recorder that writes a file and a server that follows it, so a request, however slow
// or hostile, can hold up neither the job nor its recording. docs/serve.md tells it from outside.
//
// libmicrohttpd parses requests. It is driven by this process's own poll loop; the only other
// thread reads files (reader.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "serve/listener.h"
#include "serve/shelf.h"

namespace plateau {

struct ServeOptions : ShelfOptions {
  std::string address = "127.0.0.1";
  uint16_t port = 0;      // 0: the kernel picks one.
  std::string token;      // Empty: none is asked for. Requires: a loopback address.
  double ask_s = 20;      // A request must have come whole within so long,
  double answer_s = 120;  // and its answer have been taken within so long.
};

class Server {
 public:
  // Binds and listens. Fails with a sentence that says what to try; Error::Kind::not_found if the
  // port is taken.
  static Result<Server> start(ServeOptions options);

  Server(Server&&) noexcept;
  Server& operator=(Server&&) noexcept;
  ~Server();  // Ends all connections.

  // "http://127.0.0.1:39217/", with the token if there is one.
  [[nodiscard]] std::string url() const;
  [[nodiscard]] uint16_t port() const;
  // Serves until `stop_fd` becomes readable. Then, if pages are open, reads once more what they
  // show and goes on until they have taken it, for at most `farewell_s`.
  void run(int stop_fd, double farewell_s = 0);

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace plateau
