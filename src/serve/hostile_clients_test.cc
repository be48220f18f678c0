// SPDX-License-Identifier: Apache-2.0
// Clients that are malformed, huge, slow or gone: each gets an error or is let go, and the next
// one is served.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <fstream>

#include "base/clock.h"
#include "base/compression.h"
#include "serve/connections.h"
#include "serve/http_client_for_test.h"
#include "serve/served_runs_for_test.h"
#include "serve/shelf_files.h"
#include "serve/waiting.h"

namespace plateau {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

class HostileClients : public testing::Test {
 protected:
  HostileClients() : job_(directory_.file("train.plateau"), 0) { job_.steps(40); }

  [[nodiscard]] ServeOptions options() const {
    ServeOptions options;
    options.paths = {directory_.path()};
    return options;
  }
  static void expect_alive(const ServerInThread& server) {
    EXPECT_THAT(get(server.port(), "/healthz"), StartsWith("HTTP/1.1 200"));
  }

  ScratchDirectory directory_;
  InventedJob job_;
};

TEST_F(HostileClients, MalformedRequestsDoNoHarm) {
  const ServerInThread server(options());
  const std::string zero("GET /\0 HTTP/1.1\r\n\r\n", 19);
  for (const std::string& request :
       {std::string("\r\n\r\n\r\n"), std::string("GET\r\n\r\n"),
        std::string("GET / HTTP/9.9\r\n\r\n"), std::string("GET  /  HTTP/1.1  x\r\n\r\n"), zero,
        std::string(5000, '\xff') + "\r\n\r\n",
        std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11),
        std::string("GET / HTTP/1.1\r\nHost localhost\r\n\r\n"),
        std::string(
            "GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
        std::string("GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n"),
        std::string("GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n"
                    "\r\n"),
        std::string("GET /%zz%%%00?run=%&token=%1 HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        std::string("GET /?run&token&&&=&=x HTTP/1.1\r\nHost: localhost\r\n\r\n")}) {
    Client client(server.port());
    client.send(request);
    client.vanish();
  }
  expect_alive(server);
}

TEST_F(HostileClients, WhatIsNoHttpIsRefusedInJson) {
  const ServerInThread server(options());
  for (const std::string& bytes :
       {std::string("NONSENSE\r\n\r\n"), std::string("\x16\x03\x01\x02\x00\x01", 6),
        std::string("GET / HTTP/1.1\r\nHost localhost\r\n\r\n"),
        std::string("GET / HTTP/9.9\r\nHost: localhost\r\n\r\n"),
        "GET / HTTP/1.1\r\nX: " + std::string(100000, 'x')}) {
    Client client(server.port());
    client.send(bytes);
    const std::string answer = client.receive_all();
    EXPECT_THAT(answer, AnyOf(StartsWith("HTTP/1.1 4"), StartsWith("HTTP/1.1 5"))) << bytes;
    EXPECT_THAT(body_of(answer), StartsWith("{\"error\":")) << bytes;
  }
  expect_alive(server);
}

TEST_F(HostileClients, RequestInManyPiecesIsServed) {
  const ServerInThread server(options());
  Client client(server.port());
  for (const char c : std::string("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")) {
    client.send(std::string(1, c));
  }
  EXPECT_THAT(client.receive_until("\r\n\r\n"), StartsWith("HTTP/1.1 200"));
}

TEST_F(HostileClients, HundredKilobytesOfHeadersAreRefused) {
  const ServerInThread server(options());
  std::string headers;
  for (int i = 0; i < 1000; ++i)
    headers += "X-Filler-" + std::to_string(i) + ": " + std::string(90, 'x') + "\r\n";
  const std::string many = get(server.port(), "/", headers);
  EXPECT_THAT(many, AnyOf(testing::IsEmpty(), HasSubstr(" 431 "), HasSubstr(" 413 ")));
  const std::string one = get(server.port(), "/", "X-Filler: " + std::string(100000, 'x') + "\r\n");
  EXPECT_THAT(one, AnyOf(testing::IsEmpty(), HasSubstr(" 431 "), HasSubstr(" 413 ")));
  expect_alive(server);
}

TEST_F(HostileClients, HugeAddressIsRefused) {
  const ServerInThread server(options());
  const std::string answer = get(server.port(), "/api/page?run=" + std::string(200000, 'a'));
  EXPECT_THAT(answer, AnyOf(testing::IsEmpty(), HasSubstr(" 414 "), HasSubstr(" 431 ")));
  const std::string long_name = get(server.port(), "/api/page?run=" + std::string(8000, 'a'));
  EXPECT_THAT(long_name, StartsWith("HTTP/1.1 404"));
  expect_alive(server);
}

TEST_F(HostileClients, BodyOfAMegabyteIsNotWaitedFor) {
  const ServerInThread server(options());
  Client client(server.port());
  client.send("POST /api/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n");
  EXPECT_THAT(client.receive_until("\r\n\r\n"), StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(ask(server.port(), "GET", "/healthz", "Content-Length: 5\r\n\r\nhello"),
              StartsWith("HTTP/1.1 200"));
}

TEST_F(HostileClients, RequestsThatCanBeUnderstoodInTwoWaysAreRefusedInJson) {
  const ServerInThread server(options());
  const auto refused = [&server](const std::string& request) {
    Client client(server.port());
    client.send(request);
    const std::string answer = client.receive_until("\"}");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 400")) << request;
    EXPECT_THAT(body_of(answer), StartsWith("{\"error\":")) << request;
  };
  const std::string host = "Host: localhost\r\n";
  refused("GET /api/runs HTTP/1.1\r\n" + host + "Host: evil.example\r\n\r\n");
  refused("GET /api/runs HTTP/1.1\r\n" + host + host + "\r\n");
  refused("GET /api/runs HTTP/1.1\r\n" + host +
          "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
  refused("GET /api/runs HTTP/1.1\r\n" + host +
          "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nhello");
  refused("GET /api/runs%00 HTTP/1.1\r\n" + host + "\r\n");
  refused("GET /api%2Fruns HTTP/1.1\r\n" + host + "\r\n");
  refused("GET /api%2fruns HTTP/1.1\r\n" + host + "\r\n");
  refused("GET /api%5cruns HTTP/1.1\r\n" + host + "\r\n");
  refused("GET /api/page?run=%00 HTTP/1.1\r\n" + host + "\r\n");
  expect_alive(server);
}

TEST_F(HostileClients, ZeroByteInTheAddressIsNoWayAround) {
  const ServerInThread server(options());
  Client client(server.port());
  constexpr char kRequest[] = "GET /api/runs\0.html HTTP/1.1\r\nHost: localhost\r\n\r\n";
  client.send(std::string(kRequest, sizeof kRequest - 1));
  const std::string answer = client.receive_until("}");
  EXPECT_THAT(answer, AnyOf(testing::IsEmpty(), HasSubstr(" 4"))) << answer;
  EXPECT_THAT(answer, testing::Not(HasSubstr("train.plateau")));
  expect_alive(server);
}

TEST_F(HostileClients, LongHeadIsRefusedInJson) {
  const ServerInThread server(options());
  const std::string answer =
      get(server.port(), "/", "X-Filler: " + std::string(30000, 'x') + "\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 431"));
  EXPECT_THAT(body_of(answer), StartsWith("{\"error\":"));
  expect_alive(server);
}

TEST_F(HostileClients, GuessingATokenIsSlowAndHoldsUpNobodyElse) {
  ServeOptions guarded = options();
  guarded.token = "a-token-that-is-hard-97531";
  const ServerInThread server(guarded);
  const double begin_s = monotonic_now_s();
  std::vector<Client> guessers;
  for (size_t i = 0; i < Waiting::kMostGuesses; ++i) {
    guessers.emplace_back(server.port());
    guessers.back().send("GET /api/runs?token=wrong" + std::to_string(i) +
                         " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  expect_alive(server);
  // One more is not looked at, right or wrong, until the others have their answer.
  std::string more;
  while (more.find(" 429 ") == std::string::npos && monotonic_now_s() - begin_s < 0.9) {
    more = get(server.port(), "/api/runs?token=" + guarded.token);
  }
  EXPECT_THAT(more, HasSubstr(" 429 "));
  EXPECT_THAT(body_of(more), StartsWith("{\"error\":"));
  for (Client& guesser : guessers) {
    EXPECT_THAT(guesser.receive_until("\"}"), StartsWith("HTTP/1.1 401"));
  }
  EXPECT_GE(monotonic_now_s() - begin_s, 0.9);
  EXPECT_THAT(get(server.port(), "/api/runs?token=" + guarded.token), HasSubstr(" 200 "));
}

TEST_F(HostileClients, FileThatUnpacksToAGigabyteHoldsUpNobody) {
  // Given a directory with a bomb: a gzip of zeros, thirty times larger than it may be.
  const std::string zeros(size_t{1} << 20, '\0');
  const std::string member = gzipped(zeros, 9);
  {
    std::ofstream bomb(directory_.file("bomb.plateau"), std::ios::binary);
    for (int i = 0; i < 1024; ++i) bomb << member;
  }
  ServeOptions limited = options();
  const ServerInThread server(limited);
  // When it is read, then the others are answered, and in the end it says why it is not.
  std::string list;
  for (int i = 0; i < 3000 && list.find("judge' ") == std::string::npos; ++i) {
    expect_alive(server);
    list = get(server.port(), "/api/runs");
    EXPECT_THAT(list, HasSubstr("train.plateau"));
    poll(nullptr, 0, 10);
  }
  // A sanitizer is so slow that it is given up for the time it takes.
  EXPECT_THAT(
      list, AnyOf(HasSubstr("too large to be served"), HasSubstr("could not be read within 5 s")));
  EXPECT_THAT(get(server.port(), "/api/page?run=" + id_of_path(directory_.file("bomb.plateau"))),
              StartsWith("HTTP/1.1 422"));
}

TEST_F(HostileClients, SlowClientIsLetGoWhileQuickOnesAreServed) {
  ServeOptions impatient = options();
  impatient.ask_s = 1;
  const ServerInThread server(impatient);
  Client slow(server.port());
  const std::string request = "GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ";
  size_t sent = 0;
  bool taken = true;
  // A byte every 50 ms is never idle; only the deadline of the whole request ends it.
  for (; taken && sent < 1000; ++sent) {
    taken = slow.send(sent < request.size() ? request.substr(sent, 1) : "x");
    poll(nullptr, 0, 50);
    if (sent % 5 == 0) expect_alive(server);
  }
  EXPECT_FALSE(taken) << "still connected after " << sent << " bytes";
}

TEST_F(HostileClients, ManySilentClientsDoNotLockOutAQuickOne) {
  const ServerInThread server(options());
  std::vector<Client> silent;
  for (size_t i = 0; i < Connections::kMost + 50; ++i) {
    silent.emplace_back(server.port());
    silent.back().send("GET / HT");
  }
  expect_alive(server);
  EXPECT_THAT(get(server.port(), "/api/runs"), StartsWith("HTTP/1.1 200"));
}

TEST_F(HostileClients, ClientThatVanishesMidAnswerHarmsNobody) {
  const ServerInThread server(options());
  for (int i = 0; i < 20; ++i) {
    Client client(server.port());
    client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\nGET /events HTTP/1.1\r\nHost: l");
    client.vanish();
    Client listener(server.port());
    listener.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    listener.receive_until("retry");
    listener.vanish();
  }
  job_.steps(1);
  expect_alive(server);
}

TEST_F(HostileClients, RequestsInOneBreathAreAllAnswered) {
  const ServerInThread server(options());
  Client client(server.port());
  std::string requests;
  for (int i = 0; i < 50; ++i) requests += "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
  requests += "GET /last HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  client.send(requests);
  const std::string answers = client.receive_all();
  size_t count = 0;
  for (size_t at = answers.find("HTTP/1.1 200"); at != std::string::npos;
       at = answers.find("HTTP/1.1 200", at + 1)) {
    ++count;
  }
  EXPECT_EQ(count, 50U);
  EXPECT_THAT(answers, HasSubstr("HTTP/1.1 404"));
}

TEST(Connections, LongestWaitingWhoAskedNothingMakesRoom) {
  Connections connections;
  std::vector<Fd> ours;
  std::vector<Connections::Connection*> all;
  for (size_t i = 0; i < Connections::kMost - Connections::kSpare + 1; ++i) {
    int ends[2] = {-1, -1};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    ours.emplace_back(ends[0]);
    ours.emplace_back(ends[1]);
    all.push_back(connections.arrive(ends[0], static_cast<double>(i)));
    if (i == 0) Connections::note(*all[0], Connections::Doing::streaming, 0);
  }
  EXPECT_FALSE(all[0]->shut) << "a page that listens keeps its place";
  EXPECT_TRUE(all[1]->shut);
  EXPECT_FALSE(all[2]->shut);
  EXPECT_FALSE(all.back()->shut);
}

}  // namespace
}  // namespace plateau
