// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal_keys.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "base/utf8.h"

namespace plateau {
namespace {

using Kind = Key::Kind;

std::vector<Key> decoded(KeyDecoder& decoder, std::string_view bytes) {
  decoder.feed(bytes);
  std::vector<Key> keys;
  while (const std::optional<Key> key = decoder.next()) keys.push_back(*key);
  return keys;
}

std::vector<Key> flushed(KeyDecoder& decoder) {
  std::vector<Key> keys;
  while (const std::optional<Key> key = decoder.flush()) keys.push_back(*key);
  return keys;
}

std::vector<Key> keys_of(std::string_view bytes) {
  KeyDecoder decoder;
  std::vector<Key> keys = decoded(decoder, bytes);
  for (const Key& key : flushed(decoder)) keys.push_back(key);
  return keys;
}

Key key(Kind kind) {
  return {kind, 0};
}

Key character(char32_t value) {
  return {Kind::character, value};
}

TEST(KeyDecoder, KnowsTheSequencesOfCommonTerminals) {
  EXPECT_EQ(keys_of("\x1b[A"), std::vector{key(Kind::up)});
  EXPECT_EQ(keys_of("\x1bOB"), std::vector{key(Kind::down)});
  EXPECT_EQ(keys_of("\x1b[1;5C"), std::vector{key(Kind::right)});
  EXPECT_EQ(keys_of("\x1b[5~\x1b[6~"), (std::vector{key(Kind::page_up), key(Kind::page_down)}));
  EXPECT_EQ(keys_of("\x1b[H\x1b[4~"), (std::vector{key(Kind::home), key(Kind::end)}));
  EXPECT_EQ(keys_of("\r\n\x7f\b\t\x03"),
            (std::vector{key(Kind::enter), key(Kind::enter), key(Kind::backspace),
                         key(Kind::backspace), key(Kind::tab), key(Kind::interrupt)}));
  EXPECT_EQ(keys_of("\x1bOM"), std::vector{key(Kind::enter)});
}

TEST(KeyDecoder, LoneEscapeWaitsUntilNothingFollows) {
  KeyDecoder decoder;
  EXPECT_TRUE(decoded(decoder, "\x1b").empty());
  EXPECT_TRUE(decoder.pending());
  EXPECT_EQ(flushed(decoder), std::vector{key(Kind::escape)});
  EXPECT_FALSE(decoder.pending());
}

TEST(KeyDecoder, ArrowTakenApartByTheNetworkIsOneKey) {
  KeyDecoder decoder;
  EXPECT_TRUE(decoded(decoder, "\x1b").empty());
  EXPECT_TRUE(decoded(decoder, "[").empty());
  EXPECT_EQ(decoded(decoder, "Aq"), (std::vector{key(Kind::up), character('q')}));
}

TEST(KeyDecoder, EscapeFollowedByALetterIsTwoKeys) {
  EXPECT_EQ(keys_of("\x1bq"), (std::vector{key(Kind::escape), character('q')}));
  EXPECT_EQ(keys_of("\x1b\x1b[A"), (std::vector{key(Kind::escape), key(Kind::up)}));
}

TEST(KeyDecoder, LettersBeyondAsciiAreOneKeyEach) {
  EXPECT_EQ(keys_of("\xc3\xa9\xe2\x82\xac"), (std::vector{character(0xE9), character(0x20AC)}));
  KeyDecoder decoder;
  EXPECT_TRUE(decoded(decoder, "\xe2\x82").empty());
  EXPECT_EQ(decoded(decoder, "\xac"), std::vector{character(0x20AC)});
}

TEST(KeyDecoder, NoiseIsUnknownAndDoesNotSwallowTheNextKey) {
  EXPECT_EQ(keys_of("\xffq"), (std::vector{Key{}, character('q')}));
  EXPECT_EQ(keys_of("\x1b[99zq"), (std::vector{Key{}, character('q')}));
  EXPECT_EQ(keys_of("\x1b[1\x1b[A"), (std::vector{Key{}, key(Kind::up)}));
  EXPECT_EQ(keys_of(std::string("\x1b[") + std::string(40, '1')).front(), Key{});
}

RC_GTEST_PROP(KeyDecoder, AnyBytesEndInKeysAndNothingWaits, (const std::string& bytes)) {
  KeyDecoder decoder;
  const size_t keys = decoded(decoder, bytes).size() + flushed(decoder).size();
  RC_ASSERT(keys <= bytes.size());
  RC_ASSERT(bytes.empty() || keys > 0U);
  RC_ASSERT(!decoder.pending());
}

RC_GTEST_PROP(KeyDecoder, CuttingWholeKeysAnywhereChangesNothing, ()) {
  const auto words = *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
      "a", "q", "\xc3\xa9", "\xf0\x9f\x98\x80", "\x1b[A", "\x1bOB", "\x1b[5~", "\r", "\x7f", "?"));
  std::string bytes;
  for (const std::string& word : words) bytes += word;
  const auto cut = *rc::gen::inRange<size_t>(0, bytes.size() + 1);
  KeyDecoder decoder;
  std::vector<Key> keys = decoded(decoder, std::string_view(bytes).substr(0, cut));
  for (const Key& each : decoded(decoder, std::string_view(bytes).substr(cut))) {
    keys.push_back(each);
  }
  RC_ASSERT(keys == keys_of(bytes));
  RC_ASSERT(keys.size() == words.size());
}

}  // namespace
}  // namespace plateau
