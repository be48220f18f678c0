// SPDX-License-Identifier: Apache-2.0
// Against a real server, Python's, with good and bad manners (tests/stand_in/http_server.py).
#include "http/client.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

namespace plateau {
namespace {

using testing::HasSubstr;
using testing::Not;

class StandIn {
 public:
  StandIn() {
    int out[2] = {-1, -1};
    EXPECT_EQ(pipe2(out, O_CLOEXEC), 0);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(out[1], STDOUT_FILENO);
      execlp("python3", "python3", PLATEAU_SOURCE_DIR "/tests/stand_in/http_server.py", nullptr);
      _exit(127);
    }
    close(out[1]);
    std::string line;
    for (char c = 0; c != '\n' && read(out[0], &c, 1) == 1;) line += c;
    close(out[0]);
    port_ = std::atoi(line.c_str());
    EXPECT_GT(port_, 0);
  }
  ~StandIn() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;

  [[nodiscard]] std::string at(const std::string& path) const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }

 private:
  pid_t pid_ = -1;
  int port_ = 0;
};

class HttpClientTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("no_proxy", "*", 1);  // Whatever the machine uses to reach others.
    server_ = new StandIn;
  }
  static void TearDownTestSuite() { delete server_; }

  static Result<HttpAnswer> get(HttpRequest request) {
    Result<HttpClient> client = HttpClient::open();
    EXPECT_TRUE(client.ok()) << client.error().message;
    return client.value().get(request);
  }

  static StandIn* server_;
};
StandIn* HttpClientTest::server_ = nullptr;

TEST_F(HttpClientTest, APostCarriesItsBodyAndItsHeaders) {
  Result<HttpClient> client = HttpClient::open();
  ASSERT_TRUE(client.ok()) << client.error().message;
  const Result<HttpAnswer> answer = client.value().post(
      {.url = server_->at("/echo"), .headers = {"X-Token: abc"}, .body = R"({"verdict":"leak"})"});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer.value().status, 200);
  EXPECT_THAT(answer.value().body, HasSubstr(R"("X-Token": "abc")"));
  EXPECT_THAT(answer.value().body, HasSubstr(R"({\"verdict\":\"leak\"})"));
  EXPECT_THAT(answer.value().body, HasSubstr("application/json"));
  EXPECT_THAT(answer.value().body, HasSubstr(R"("method": "POST")"));
  // The same client asks again, and a get is a get.
  const Result<HttpAnswer> again = client.value().get({.url = server_->at("/echo")});
  ASSERT_TRUE(again.ok());
  EXPECT_THAT(again.value().body, HasSubstr(R"("method": "GET")"));
  EXPECT_THAT(again.value().body, Not(HasSubstr("X-Token")));
}

TEST_F(HttpClientTest, WhatComesCompressedIsHandedOutPlain) {
  const Result<HttpAnswer> answer = get({.url = server_->at("/gzip")});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer.value().body.size(), 6000U);
  EXPECT_EQ(answer.value().content_type, "text/plain");
}

TEST_F(HttpClientTest, TheBoundHoldsForWhatWasInflated) {
  const Result<HttpAnswer> answer = get({.url = server_->at("/gzip"), .most_bytes = 5999});
  ASSERT_FALSE(answer.ok());
  EXPECT_THAT(answer.error().message, HasSubstr("more than 5999 bytes"));
}

TEST_F(HttpClientTest, AnAnswerWithoutEndIsCutOff) {
  const Result<HttpAnswer> answer = get({.url = server_->at("/long"), .most_bytes = 1 << 20});
  ASSERT_FALSE(answer.ok());
  EXPECT_THAT(answer.error().message, HasSubstr("more than"));
}

TEST_F(HttpClientTest, AServerThatNeverAnswersIsGivenUp) {
  const Result<HttpAnswer> answer = get({.url = server_->at("/slow"), .total_s = 0.3});
  ASSERT_FALSE(answer.ok());
  EXPECT_THAT(answer.error().message, HasSubstr("timed out"));
}

TEST_F(HttpClientTest, AFailureOfTheServerIsAnAnswer) {
  const Result<HttpAnswer> answer = get({.url = server_->at("/status/500")});
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer.value().status, 500);
}

TEST_F(HttpClientTest, APauseThatTheServerAsksForIsHandedOut) {
  const Result<HttpAnswer> busy = get({.url = server_->at("/busy")});
  ASSERT_TRUE(busy.ok()) << busy.error().message;
  EXPECT_EQ(busy.value().status, 429);
  EXPECT_EQ(busy.value().retry_after_s, 7);
  EXPECT_EQ(get({.url = server_->at("/echo")}).value().retry_after_s, 0);
}

TEST_F(HttpClientTest, RedirectionsAreFollowedOnlyWhereThatIsAsked) {
  const Result<HttpAnswer> there = get({.url = server_->at("/redirect")});
  ASSERT_TRUE(there.ok()) << there.error().message;
  EXPECT_EQ(there.value().status, 307);
  const Result<HttpAnswer> followed = get({.url = server_->at("/redirect"), .redirections = 2});
  ASSERT_TRUE(followed.ok()) << followed.error().message;
  EXPECT_EQ(followed.value().status, 200);
}

TEST_F(HttpClientTest, NobodyThereIsAnErrorThatKeepsTheSecretInTheAddress) {
  const Result<HttpAnswer> answer =
      get({.url = "http://me:pass@127.0.0.1:1/services/T00/secret?token=x"});
  ASSERT_FALSE(answer.ok());
  EXPECT_THAT(answer.error().message, HasSubstr("http://127.0.0.1:1/…"));
  EXPECT_THAT(answer.error().message, Not(HasSubstr("secret")));
  EXPECT_THAT(answer.error().message, Not(HasSubstr("pass")));
}

TEST(Url, OtherSchemesAndBrokenAddressesAreRefused) {
  for (const char* url : {"", "file:///etc/passwd", "gopher://h/", "hooks.example.com/x", "http://",
                          "https:///path", "http://h/a b", "http://h/\r\nX: y"}) {
    EXPECT_FALSE(check_url(url).ok()) << url;
  }
  EXPECT_TRUE(check_url("HTTPS://hooks.example.com:8443/services/x?y=z").ok());
}

TEST(Url, OnlyTheOriginIsShown) {
  EXPECT_EQ(origin_of("https://u:p@h.example:8443/services/T0?key=1"), "https://h.example:8443/…");
  EXPECT_EQ(origin_of("http://h/"), "http://h");
  EXPECT_EQ(origin_of("http://h?token=1"), "http://h/…");
  EXPECT_EQ(origin_of("http://h\\@evil/x"), "http://h/…");
  EXPECT_EQ(origin_of("secret"), "(no address)");
}

TEST(Header, OneLineWithANameIsOne) {
  EXPECT_TRUE(check_header("Authorization: Bearer abc").ok());
  EXPECT_FALSE(check_header("Authorization").ok());
  EXPECT_FALSE(check_header(": x").ok());
  EXPECT_FALSE(check_header("A: b\r\nC: d").ok());
}

}  // namespace
}  // namespace plateau
