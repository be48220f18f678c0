// SPDX-License-Identifier: Apache-2.0
#include "serve/first_head.h"

#include <gtest/gtest.h>

#include <string>

namespace plateau {
namespace {

using Kind = FirstHead::Kind;

TEST(FirstHead, WholeRequestIsFineAtItsLastByteAndNotBefore) {
  const std::string head =
      "\r\nGET /api/runs?run=a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n";
  for (size_t size = 0; size < head.size(); ++size) {
    EXPECT_EQ(look_at_first_head(std::string_view(head).substr(0, size)).kind, Kind::incomplete)
        << size;
  }
  EXPECT_EQ(look_at_first_head(head).kind, Kind::fine);
  EXPECT_EQ(look_at_first_head(head + "hello").kind, Kind::fine);
}

TEST(FirstHead, OtherProtocolsAreRefusedAtTheirFirstBytes) {
  const std::string tls("\x16\x03\x01\x02\x00\x01\x00", 7);
  for (const std::string& bytes :
       {tls, std::string("SSH-2.0-OpenSSH_9.2\r\n"), std::string("ssh-rsa AAAA"),
        std::string("NONSENSE\r\n"), std::string("GET /\r\n"), std::string("GET / x HTTP/1.1\r\n"),
        std::string("GET /\0 HTTP/1.1\r\n", 18), std::string(40, 'A'), std::string(9, '\n')}) {
    const FirstHead head = look_at_first_head(bytes);
    EXPECT_EQ(head.kind, Kind::refused) << bytes;
    EXPECT_EQ(head.status, 400U) << bytes;
  }
  EXPECT_EQ(look_at_first_head("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").status, 505U);
}

TEST(FirstHead, MalformedAndEndlessHeadsAreRefused) {
  const std::string line = "GET / HTTP/1.1\r\n";
  EXPECT_EQ(look_at_first_head(line + "Host localhost\r\n\r\n").status, 400U);
  EXPECT_EQ(look_at_first_head(line + ": empty\r\n\r\n").status, 400U);
  EXPECT_EQ(look_at_first_head(line + "Host : localhost\r\n\r\n").status, 400U);
  EXPECT_EQ(look_at_first_head(line + "Content-Length: -5\r\n\r\n").status, 400U);
  EXPECT_EQ(look_at_first_head(line + "Content-Length: 99999999999999999999\r\n\r\n").status, 400U);
  EXPECT_EQ(look_at_first_head(line + "X: " + std::string(kMostFirstHead, 'x')).status, 431U);
  EXPECT_EQ(look_at_first_head("GET /" + std::string(kMostFirstHead, 'x')).status, 414U);
}

TEST(FirstHead, WhatTheLibraryWouldAnswerByItselfIsRefused) {
  const std::string line = "GET / HTTP/1.1\r\n";
  for (const char* coding : {"chunked", "xchunked", "gzip, chunked"}) {
    const std::string head = line + "Transfer-Encoding: " + coding + "\r\n\r\n5\r\nhello\r\n";
    EXPECT_EQ(look_at_first_head(head).status, 400U) << coding;
  }
  std::string headers;
  std::string arguments = "?";
  for (int i = 0; i < 120; ++i) headers += "X: y\r\n", arguments += "a=1&";
  EXPECT_EQ(look_at_first_head(line + headers + "\r\n").kind, Kind::fine);
  EXPECT_EQ(look_at_first_head(line + headers + headers + "\r\n").status, 431U);
  EXPECT_EQ(look_at_first_head("GET /" + arguments + " HTTP/1.1\r\n\r\n").kind, Kind::fine);
  EXPECT_EQ(look_at_first_head("GET /" + arguments + arguments + " HTTP/1.1\r\n\r\n").status, 414U);
}

}  // namespace
}  // namespace plateau
