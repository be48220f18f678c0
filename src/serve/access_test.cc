// SPDX-License-Identifier: Apache-2.0
#include "serve/access.h"

#include <gtest/gtest.h>

#include "serve/listener.h"

namespace plateau {
namespace {

TEST(IsLocalHost, OnlyNamesOfThisMachineAreLocal) {
  for (const char* host : {"localhost", "LOCALHOST:80", "127.0.0.1", "127.0.0.1:7528", "127.3.2.1",
                           "[::1]", "[::1]:7528", "", " localhost "}) {
    EXPECT_TRUE(is_local_host(host)) << host;
  }
  for (const char* host :
       {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "[::1", "[::1]x",
        "localhost:", "localhost:80x", "localhost:123456", "0.0.0.0", "192.168.1.2:7528", "::1",
        "evil.example:localhost", "127.0.0.1@evil.example", "[::2]"}) {
    EXPECT_FALSE(is_local_host(host)) << host;
  }
}

TEST(BearerToken, IsWhatFollowsTheScheme) {
  EXPECT_EQ(bearer_token("Bearer abc"), "abc");
  EXPECT_EQ(bearer_token("bearer   abc  "), "abc");
  EXPECT_FALSE(bearer_token("Bearer"));
  EXPECT_FALSE(bearer_token("Basic abc"));
  EXPECT_FALSE(bearer_token(""));
  EXPECT_FALSE(bearer_token("Bearerabc"));
}

TEST(Admit, WithoutTokenOnlyTheHostCounts) {
  const AccessRules rules = {.token = "", .local_only = true};
  EXPECT_EQ(admit(rules, {.host = "localhost:1"}), Admission::welcome);
  EXPECT_EQ(admit(rules, {.host = "evil.example"}), Admission::wrong_host);
}

TEST(Admit, TokenMayComeInThreeWays) {
  const AccessRules rules = {.token = "secret-secret", .local_only = false};
  EXPECT_EQ(admit(rules, {.authorization = "Bearer secret-secret"}), Admission::welcome);
  EXPECT_EQ(admit(rules, {.cookie_token = "secret-secret"}), Admission::welcome);
  EXPECT_EQ(admit(rules, {.query_token = "secret-secret"}), Admission::welcome_by_query);
  EXPECT_EQ(admit(rules, {}), Admission::no_token);
  EXPECT_EQ(admit(rules, {.authorization = "Bearer secret-secreT"}), Admission::no_token);
  EXPECT_EQ(admit(rules, {.authorization = "secret-secret"}), Admission::no_token);
  EXPECT_EQ(admit(rules, {.query_token = "secret"}), Admission::no_token);
}

TEST(Admit, TokenDoesNotExcuseAWrongHostOnLoopback) {
  const AccessRules rules = {.token = "secret-secret", .local_only = true};
  EXPECT_EQ(admit(rules, {.host = "evil.example", .query_token = "secret-secret"}),
            Admission::wrong_host);
}

TEST(MakeToken, GivesAnotherOneEachTime) {
  const Result<std::string> first = make_token();
  const Result<std::string> second = make_token();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first.value().size(), 32U);
  EXPECT_TRUE(is_usable_token(first.value()));
  EXPECT_NE(first.value(), second.value());
}

TEST(IsUsableToken, RefusesWhatAnAddressOrACookieCannotHold) {
  EXPECT_TRUE(is_usable_token("Aa0-._~9bcdefgh1"));
  for (const char* token : {"", "with space12345bcdf", "semi;colon987bcdfg", "per%cent987bcdfgh",
                            "new\nline12bcdfghjk"}) {
    EXPECT_FALSE(is_usable_token(token)) << token;
  }
}

TEST(IsUsableToken, RefusesWhatIsGuessed) {
  for (const char* token : {"short-1", "fifteen-letter1", "aaaaaaaaaaaaaaaa", "abababababababab",
                            "1212121212121212", "my-Password-97531", "plateau-97531-bcdf",
                            "0123456789012345678901", "Secret-97531-bcdfg"}) {
    EXPECT_FALSE(is_usable_token(token)) << token;
  }
}

TEST(ParseListen, UnderstandsWhatPeopleWrite) {
  const auto at = [](std::string_view text) {
    const Result<ListenAddress> parsed = parse_listen(text, 7528);
    if (!parsed) return "error: " + parsed.error().message;
    return parsed.value().address + " " + std::to_string(parsed.value().port);
  };
  EXPECT_EQ(at("127.0.0.1:80"), "127.0.0.1 80");
  EXPECT_EQ(at("0.0.0.0"), "0.0.0.0 7528");
  EXPECT_EQ(at("localhost:0"), "127.0.0.1 0");
  EXPECT_EQ(at("8080"), "127.0.0.1 8080");
  EXPECT_EQ(at(":8080"), "127.0.0.1 8080");
  EXPECT_EQ(at("[::1]:8080"), "::1 8080");
  EXPECT_EQ(at("::1"), "::1 7528");
  for (const char* text : {"", "example.org:80", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1",
                           "[::1", "[::1]80", "1.2.3:80", "127.0.0.1:8x"}) {
    EXPECT_EQ(at(text).rfind("error: ", 0), 0U) << text << " became " << at(text);
  }
}

TEST(IsLoopback, IsTrueOfAllThatStaysOnTheMachine) {
  for (const char* address : {"127.0.0.1", "127.9.9.9", "::1", "localhost"}) {
    EXPECT_TRUE(is_loopback(address)) << address;
  }
  for (const char* address : {"0.0.0.0", "::", "192.168.0.1", "example.org", "128.0.0.1", ""}) {
    EXPECT_FALSE(is_loopback(address)) << address;
  }
}

TEST(ListenAt, TakenPortIsToldWithWhatToTry) {
  ListenAddress first = {"127.0.0.1", 0};
  const Result<Fd> socket = listen_at(first);
  ASSERT_TRUE(socket);
  ASSERT_NE(first.port, 0);
  ListenAddress second = first;
  const Result<Fd> refused = listen_at(second);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Error::Kind::not_found);
  EXPECT_NE(refused.error().message.find("--listen"), std::string::npos);
}

}  // namespace
}  // namespace plateau
