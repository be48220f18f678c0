// SPDX-License-Identifier: Apache-2.0
// From a request to its answer, without a socket: docs/serve.md lists the addresses.
//
// Everything is read-only: GET and HEAD, nothing else. Errors are JSON, {"error": "..."}.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/access.h"
#include "serve/metrics.h"
#include "serve/shelf.h"

namespace plateau {

// Views into what the HTTP library holds; what was not sent is empty.
struct HttpRequest {
  std::string_view method;
  std::string_view path;  // Without the query, percent signs decoded.
  std::string_view run;   // Of the query.
  std::string_view accept;
  std::string_view accept_encoding;
  Credentials credentials;
};

struct HttpReply {
  unsigned status = 200;
  std::string content_type = "application/json; charset=utf-8";
  std::shared_ptr<const std::string> body;
  std::vector<std::pair<std::string, std::string>> headers;
  bool is_stream = false;  // Server-sent events of `stream_run` instead of a body.
  std::string stream_run;  // An id; empty: whichever run is the newest then.
};

class Routes {
 public:
  // Requires: `shelf` outlives this. `cookie` is the name under which a browser keeps the token.
  Routes(Shelf& shelf, AccessRules rules, std::string cookie);

  // `figures` are those of the server, for /metrics.
  HttpReply answer(const HttpRequest& request, const ServerFigures& figures);

  [[nodiscard]] const std::string& cookie() const { return cookie_; }

 private:
  HttpReply admitted(const HttpRequest& request, const ServerFigures& figures);
  HttpReply start_page() const;
  HttpReply run_list();
  HttpReply page(const HttpRequest& request);
  HttpReply comparison(const HttpRequest& request);  // `run` holds two ids and a comma.
  HttpReply verdict(const HttpRequest& request);
  HttpReply events(const HttpRequest& request);
  HttpReply metrics(const HttpRequest& request, const ServerFigures& figures);

  Shelf& shelf_;
  AccessRules rules_;
  std::string cookie_;
  std::shared_ptr<const std::string> live_page_;
  std::string page_policy_;  // Content-Security-Policy of the page.
};

HttpReply error_reply(unsigned status, std::string_view message);

// The policy that a page states in its <meta>, with what can only be said in a header; the
// strictest there is if it states none.
std::string policy_of_page(std::string_view html);

}  // namespace plateau
