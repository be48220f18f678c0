// SPDX-License-Identifier: Apache-2.0
// From a request to its answer, without a socket: docs/serve.md lists the addresses.
//
// Everything is read-only: GET and HEAD, nothing else. Errors are JSON, {"error": "..."}.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/access.h"
#include "serve/metrics.h"
#include "serve/reader.h"

namespace plateau {

// Views into what the HTTP library holds; what was not sent is empty.
struct IncomingRequest {
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
  // Requires: `reader` outlives this. `cookie` is the name under which a browser keeps the token.
  Routes(const Reader& reader, AccessRules rules, std::string cookie);

  // What the request is to wait for before it is answered, and for how long at most.
  struct Wait {
    std::optional<Reader::Wish> wish;
    double most_s = 0;
    bool wrong_token = false;  // Nothing but time: guessing is to be slow.
    bool look_again = false;   // What to wait for next is known only then.
  };
  [[nodiscard]] Wait wait_for(const IncomingRequest& request, double uptime_s) const;

  // `figures` are those of the server, for /metrics.
  HttpReply answer(const IncomingRequest& request, const ServerFigures& figures);

  [[nodiscard]] const std::string& cookie() const { return cookie_; }
  [[nodiscard]] bool asks_for_token() const { return !rules_.token.empty(); }

 private:
  HttpReply admitted(const IncomingRequest& request, const ServerFigures& figures);
  HttpReply start_page() const;
  HttpReply run_list();
  HttpReply page(const IncomingRequest& request);
  HttpReply comparison(const IncomingRequest& request);  // `run` holds two ids and a comma.
  [[nodiscard]] bool are_known(std::string_view before, std::string_view after) const;
  HttpReply verdict(const IncomingRequest& request);
  HttpReply events(const IncomingRequest& request);
  HttpReply metrics(const IncomingRequest& request, const ServerFigures& figures);
  [[nodiscard]] const Catalogue& catalogue() const { return *reader_.catalogue(); }

  const Reader& reader_;
  // Bodies that are the same for everybody until there is something new. /metrics also tells about
  // the server itself, and is kept for a moment only.
  struct Kept {
    std::shared_ptr<const Catalogue> of;
    double made_s = 0;
    HttpReply reply;
  };
  Kept list_;
  std::map<std::pair<Dialect, bool>, Kept> metrics_;
  AccessRules rules_;
  std::string cookie_;
  std::shared_ptr<const std::string> live_page_;
  std::string page_policy_;  // Content-Security-Policy of the page.
};

HttpReply error_reply(unsigned status, std::string_view message);

// What holds for every answer: kept nowhere, taken for nothing else, framed by nobody.
void add_common_headers(HttpReply& reply);

// The policy that a page states in its <meta>, with what can only be said in a header; the
// strictest there is if it states none.
std::string policy_of_page(std::string_view html);

}  // namespace plateau
