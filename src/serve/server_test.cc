// SPDX-License-Identifier: Apache-2.0
// What the server says to those who ask properly; hostile_clients_test.cc has the others.
#include "serve/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "serve/events.h"
#include "serve/http_client_for_test.h"
#include "serve/served_runs_for_test.h"

namespace plateau {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ServerTest : public testing::Test {
 protected:
  ServerTest() : job_(directory_.file("train.plateau"), 10) { job_.steps(60); }

  [[nodiscard]] ServeOptions options() const {
    ServeOptions options;
    options.paths = {directory_.path()};
    return options;
  }

  ScratchDirectory directory_;
  InventedJob job_;
};

std::string id_in(const std::string& list) {
  const std::string key = "\"id\":\"";
  const size_t at = list.find(key);
  return at == std::string::npos ? "" : list.substr(at + key.size(), 16);
}

TEST_F(ServerTest, EveryAddressAnswers) {
  const ServerInThread server(options());
  EXPECT_THAT(get(server.port(), "/healthz"), StartsWith("HTTP/1.1 200"));
  const std::string page = get(server.port(), "/");
  EXPECT_THAT(page, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(page, HasSubstr("plateau-live"));
  const std::string list = get(server.port(), "/api/runs");
  EXPECT_THAT(list, HasSubstr("\"name\":\"train.plateau\",\"live\":true,\"word\":\""));
  const std::string id = id_in(list);
  EXPECT_THAT(get(server.port(), "/api/page?run=" + id), HasSubstr("\"schema\":2"));
  EXPECT_THAT(get(server.port(), "/api/verdict?run=" + id), HasSubstr("\"verdict\":\""));
  EXPECT_THAT(get(server.port(), "/api/verdict"), HasSubstr("\"verdict\":\""));
  EXPECT_THAT(get(server.port(), "/metrics"), HasSubstr("plateau_owned_memory_bytes"));
}

TEST_F(ServerTest, WhatIsNotThereIsAnErrorInJson) {
  const ServerInThread server(options());
  for (const char* path : {"/nothing", "/../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//", "/api",
                           "/api/page?run=nonsense", "/api/verdict?run=../../etc/passwd",
                           "/events?run=nonsense", "/index.html", "/metrics/"}) {
    const std::string answer = get(server.port(), path);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 404")) << path;
    EXPECT_THAT(body_of(answer), StartsWith("{\"error\":")) << path;
  }
}

TEST_F(ServerTest, OnlyShowing) {
  const ServerInThread server(options());
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"}) {
    const std::string answer = ask(server.port(), method, "/api/runs", "Content-Length: 0\r\n");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 405")) << method;
    EXPECT_THAT(answer, HasSubstr("Allow: GET, HEAD\r\n")) << method;
  }
  const std::string head = ask(server.port(), "HEAD", "/api/runs");
  EXPECT_THAT(head, StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(body_of(head), "");
  EXPECT_THAT(ask(server.port(), "HEAD", "/events"), StartsWith("HTTP/1.1 200"));
}

TEST_F(ServerTest, EveryAnswerIsKeptNowhereAndFramedByNobody) {
  const ServerInThread server(options());
  for (const char* path : {"/", "/api/runs", "/nothing", "/healthz", "/metrics"}) {
    const std::string answer = get(server.port(), path);
    for (const char* header :
         {"Cache-Control: no-store\r\n", "X-Content-Type-Options: nosniff\r\n",
          "Referrer-Policy: no-referrer\r\n", "frame-ancestors 'none'\r\n", "default-src 'none'"}) {
      EXPECT_THAT(answer, HasSubstr(header)) << path;
    }
  }
}

TEST_F(ServerTest, PageIsPackedForThoseWhoCanUnpackIt) {
  const ServerInThread server(options());
  const std::string packed = get(server.port(), "/api/page", "Accept-Encoding: gzip\r\n");
  EXPECT_THAT(packed, HasSubstr("Content-Encoding: gzip\r\n"));
  EXPECT_THAT(body_of(packed), StartsWith("\x1f\x8b"));
  EXPECT_THAT(get(server.port(), "/api/page"), Not(HasSubstr("Content-Encoding")));
}

TEST_F(ServerTest, MetricsComeInTheDialectAskedFor) {
  const ServerInThread server(options());
  EXPECT_THAT(get(server.port(), "/metrics"), HasSubstr("text/plain; version=0.0.4"));
  const std::string open =
      get(server.port(), "/metrics", "Accept: application/openmetrics-text; version=1.0.0\r\n");
  EXPECT_THAT(open, HasSubstr("application/openmetrics-text; version=1.0.0; charset=utf-8"));
  EXPECT_TRUE(open.ends_with("# EOF\n"));
}

TEST_F(ServerTest, OtherNamesForThisMachineAreRefused) {
  const ServerInThread server(options());
  EXPECT_THAT(ask(server.port(), "GET", "/api/runs", "", "evil.example"),
              StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(ask(server.port(), "GET", "/", "", "evil.example:7528"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(ask(server.port(), "GET", "/api/runs", "", "[::1]:99"), StartsWith("HTTP/1.1 200"));
}

TEST_F(ServerTest, WithATokenOnlyThoseWhoHaveItAreAnswered) {
  ServeOptions with_token = options();
  with_token.token = "open-sesame";
  const ServerInThread server(with_token);
  EXPECT_TRUE(server.url().ends_with("/?token=open-sesame")) << server.url();
  for (const char* path : {"/", "/api/runs", "/api/page", "/api/verdict", "/events", "/metrics",
                           "/nothing", "/?token=wrong", "/?token=", "/?token=open-sesam"}) {
    const std::string answer = get(server.port(), path);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 401")) << path;
    EXPECT_THAT(answer, Not(HasSubstr("train.plateau"))) << path;
    EXPECT_THAT(answer, Not(HasSubstr("open-sesame"))) << path;
  }
  EXPECT_THAT(get(server.port(), "/healthz"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(get(server.port(), "/metrics", "Authorization: Bearer open-sesame\r\n"),
              StartsWith("HTTP/1.1 200"));
  const std::string page = get(server.port(), "/?token=open-sesame");
  EXPECT_THAT(page, StartsWith("HTTP/1.1 200"));
  const std::string cookie = "plateau_" + std::to_string(server.port()) + "=open-sesame";
  EXPECT_THAT(page, HasSubstr("Set-Cookie: " + cookie + "; Path=/; HttpOnly; SameSite=Strict"));
  EXPECT_THAT(get(server.port(), "/api/runs", "Cookie: " + cookie + "\r\n"),
              StartsWith("HTTP/1.1 200"));
}

TEST_F(ServerTest, AddressFromOutsideNeedsAToken) {
  ServeOptions outside = options();
  outside.address = "0.0.0.0";
  EXPECT_FALSE(Server::start(outside));
  outside.token = "open-sesame";
  EXPECT_TRUE(Server::start(outside));
}

TEST_F(ServerTest, EventsTellOfEveryChange) {
  const ServerInThread server(options());
  Client page(server.port());
  page.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const std::string first = page.receive_until("\"version\":1");
  EXPECT_THAT(first, HasSubstr("Content-Type: text/event-stream"));
  EXPECT_THAT(first, HasSubstr("event: state\ndata: {\"id\":\""));
  EXPECT_THAT(first, HasSubstr("\"last_x\":60"));
  job_.steps(1);
  EXPECT_THAT(page.receive_until("\"last_x\":61"), HasSubstr("\"last_x\":61"));
  job_.finish();
  EXPECT_THAT(page.receive_until("\"live\":false"), HasSubstr("\"live\":false"));
}

TEST_F(ServerTest, FortyPagesHearTheSame) {
  const ServerInThread server(options());
  std::vector<Client> pages;
  for (int i = 0; i < 40; ++i) {
    pages.emplace_back(server.port());
    pages.back().send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  for (Client& page : pages) ASSERT_THAT(page.receive_until("event: state"), HasSubstr("state"));
  EXPECT_THAT(get(server.port(), "/metrics"), HasSubstr("plateau_event_streams 40\n"));
  for (int i = 0; i < 10; ++i) pages[static_cast<size_t>(i)].vanish();
  job_.steps(1);
  for (size_t i = 10; i < pages.size(); ++i) {
    ASSERT_THAT(pages[i].receive_until("\"last_x\":61"), HasSubstr("\"last_x\":61"));
  }
}

TEST_F(ServerTest, OnePageTooManyIsToldToComeLater) {
  const ServerInThread server(options());
  std::vector<Client> pages;
  for (size_t i = 0; i < EventStreams::kMost; ++i) {
    pages.emplace_back(server.port());
    pages.back().send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    pages.back().receive_until("retry:");
  }
  const std::string refused = get(server.port(), "/events");
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 503"));
  EXPECT_THAT(refused, HasSubstr("Retry-After:"));
}

TEST_F(ServerTest, LastStateReachesThePageBeforeTheServerEnds) {
  ServerInThread server(options(), 60);
  Client page(server.port());
  page.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  page.receive_until("\"last_x\":60");
  job_.steps(1);
  job_.finish();
  server.ask_to_stop();
  const std::string said = page.receive_until("\"last_x\":61");
  EXPECT_THAT(said, HasSubstr("\"last_x\":61"));
  EXPECT_THAT(said.substr(said.rfind("data:")), HasSubstr("\"live\":false"));
  EXPECT_THAT(get(server.port(), "/api/page"), StartsWith("HTTP/1.1 200"));
  EXPECT_TRUE(page.is_closed_by_server());
  server.stop();
}

TEST_F(ServerTest, NoRunsIsAnEmptyList) {
  const ScratchDirectory empty;
  ServeOptions nothing;
  nothing.paths = {empty.path()};
  const ServerInThread server(nothing);
  EXPECT_EQ(body_of(get(server.port(), "/api/runs")), "{\"runs\":[]}");
  EXPECT_THAT(get(server.port(), "/api/page"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(get(server.port(), "/api/verdict"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(get(server.port(), "/metrics"), StartsWith("HTTP/1.1 200"));
}

}  // namespace
}  // namespace plateau
