// SPDX-License-Identifier: Apache-2.0
#include "push/letters.h"

#include <gmock/gmock.h>
#include <sys/socket.h>

#include <array>

namespace plateau::push {
namespace {

Letter letter(const std::string& content) {
  return {.kind = Letter::Kind::figures, .samples = 3, .at_ms = 1700000000123, .content = content};
}

TEST(Letters, ArriveWholeHoweverTheyWereCut) {
  const std::string bytes = letter_bytes(letter("one")) + letter_bytes(letter("two"));
  LetterReader reader;
  std::vector<std::string> contents;
  for (const char c : bytes) {
    for (const Letter& come : reader.feed({&c, 1})) {
      contents.push_back(come.content);
      EXPECT_EQ(come.samples, 3U);
      EXPECT_EQ(come.at_ms, 1700000000123);
    }
  }
  EXPECT_EQ(contents, (std::vector<std::string>{"one", "two"}));
}

TEST(Letters, NobodyWaitsForAReaderWhoDoesNotRead) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  LetterBox box((Fd(ends[0])));
  const Fd other(ends[1]);
  for (int i = 0; i < 100; ++i) {
    box.post(letter(std::string(100000, 'x')));
    EXPECT_TRUE(box.flush());
  }
  EXPECT_FALSE(box.empty());
  EXPECT_GT(box.dropped_samples(), 0U);
}

TEST(Letters, RemarksComeBackLineByLineAndAnEndIsSeen) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  LetterBox box((Fd(ends[0])));
  Fd other(ends[1]);
  ASSERT_EQ(send(other.get(), "one\ntwo\nthr", 11, 0), 11);
  EXPECT_EQ(box.remarks(), (std::vector<std::string>{"one", "two"}));
  EXPECT_FALSE(box.answered());
  other.reset();
  EXPECT_TRUE(box.remarks().empty());
  EXPECT_TRUE(box.answered());
  box.post(letter("x"));
  EXPECT_FALSE(box.flush());
}

TEST(Letters, WhatNobodyTookGoesToTheNextOneWhole) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  LetterBox box((Fd(ends[0])));
  Fd other(ends[1]);
  // More than the socket takes at once: it is sent in part.
  box.post(letter(std::string(2000000, 'x')));
  EXPECT_TRUE(box.flush());
  other.reset();
  box.post(letter("second"));
  EXPECT_FALSE(box.flush());
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  box.reconnect(Fd(ends[0]));
  other.reset(ends[1]);
  LetterReader reader;
  std::vector<size_t> sizes;
  std::array<char, 65536> buffer{};
  while (sizes.size() < 2 && box.flush()) {
    const ssize_t n = recv(other.get(), buffer.data(), buffer.size(), 0);
    for (const Letter& come : reader.feed({buffer.data(), static_cast<size_t>(n)})) {
      sizes.push_back(come.content.size());
    }
  }
  EXPECT_EQ(sizes, (std::vector<size_t>{2000000, 6}));
}

}  // namespace
}  // namespace plateau::push
