// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

#include <gtest/gtest.h>

namespace plateau {
namespace {

TEST(Utf8, EveryLengthSurvivesTheRoundTrip) {
  for (const char32_t value : {U'a', U'\u00e9', U'\u20ac', U'\U0001F600', U'\U0010FFFF'}) {
    std::string text;
    append_utf8(text, value);
    const CodePoint back = decode_utf8(text);
    EXPECT_EQ(back.value, value);
    EXPECT_EQ(back.bytes, text.size());
    EXPECT_TRUE(back.valid);
  }
}

TEST(Utf8, BrokenSequencesCostOneByteEach) {
  const std::string_view broken[] = {
      "\x80",              // continuation without lead
      "\xC3",              // cut off
      "\xC0\xAF",          // overlong
      "\xE0\x80\xAF",      // overlong
      "\xED\xA0\x80",      // surrogate
      "\xF4\x90\x80\x80",  // past the last code point
      "\xFF",
  };
  for (const std::string_view text : broken) {
    const CodePoint point = decode_utf8(text);
    EXPECT_FALSE(point.valid);
    EXPECT_EQ(point.bytes, 1U);
    EXPECT_EQ(point.value, kReplacementCharacter);
  }
}

TEST(Utf8, WhatIsNoCodePointIsWrittenAsReplacement) {
  std::string text;
  append_utf8(text, 0xD800);
  append_utf8(text, 0x110000);
  EXPECT_EQ(text, "\uFFFD\uFFFD");
}

}  // namespace
}  // namespace plateau
