// SPDX-License-Identifier: Apache-2.0
// The one HTTP client: a request to an address that the user named, and its answer, both bounded.
//
// libcurl does the work and is loaded when the first client is opened, not with the program: a
// `plateau judge` that asks nobody pays nothing for TLS, and a machine without libcurl loses this
// and nothing else. Proxies are taken from the environment (https_proxy, no_proxy), certificates
// from the system's store or from SSL_CERT_FILE.
//
//   Result<HttpClient> client = HttpClient::open();
//   Result<HttpAnswer> answer = client.value().get({.url = "https://metrics/api/v1/query"});
//
// Addresses hold secrets: user names, tokens in queries, and of a webhook the path itself. No error
// of this room shows more of an address than origin_of() does.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace plateau {

struct HttpRequest {
  std::string url;
  std::vector<std::string> headers = {};          // "Authorization: Bearer …", one line each.
  std::string body = {};                          // Of a post.
  std::string content_type = "application/json";  // Of the body.
  double connect_s = 10;                          // Until a connection stands,
  double total_s = 30;                            // until the whole answer is there.
  size_t most_bytes = 64U << 20;                  // Of the answer, after it was inflated.
  // How many redirections are followed. A header that was given goes to wherever they lead, but for
  // Authorization and Cookie, which stay with the first host; a post becomes a get where the server
  // says 301, 302 or 303.
  int redirections = 0;
  // Files in PEM form, each empty unless it is wanted: who we are, and by whom the server must be
  // vouched for instead of by the system's store.
  std::string certificate_file = {};
  std::string key_file = {};
  std::string authority_file = {};
};

struct HttpAnswer {
  int status = 0;            // 200, 404, …: an answer of any status is an answer.
  std::string content_type;  // "application/json; charset=utf-8"; may be empty.
  std::string body;
  double retry_after_s =
      0;  // What the server asked for in Retry-After, a date or seconds; 0: nothing.
};

class HttpClient {
 public:
  // Fails where libcurl is not installed.
  static Result<HttpClient> open();

  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;
  ~HttpClient();

  // Fail if nobody answers in time, the answer is too long, or the address is none (check_url()).
  // A connection is kept for the next request to the same place. One thread at a time; another
  // thread opens a client of its own.
  Result<HttpAnswer> get(const HttpRequest& request);
  Result<HttpAnswer> post(const HttpRequest& request);

 private:
  struct Inside;
  explicit HttpClient(std::unique_ptr<Inside> inside);
  Result<HttpAnswer> ask(const HttpRequest& request, bool post);

  std::unique_ptr<Inside> inside_;
};

// Nothing if `url` can be asked: http or https, a host, no control character or space.
Result<void> check_url(std::string_view url);
// A header as one line: "Name: value", without line ends that would smuggle a second one in.
Result<void> check_header(std::string_view header);

// What may be shown of an address: "https://hooks.example.com:8443/…", without user, path or query.
std::string origin_of(std::string_view url);

}  // namespace plateau
