// SPDX-License-Identifier: Apache-2.0
#include "trainer/text/unicode.h"

#include <gtest/gtest.h>

#include <string>

#include "trainer/text/text_for_test.h"

namespace plateau::train {
namespace {

TEST(Unicode, WhiteSpaceIsTheUnicodeProperty) {
  for (const char32_t value : {0x09U, 0x0BU, 0x20U, 0x85U, 0xA0U, 0x1680U, 0x2000U, 0x200AU,
                               0x2028U, 0x2029U, 0x202FU, 0x205FU, 0x3000U}) {
    EXPECT_EQ(char_class(value), CharClass::space) << static_cast<uint32_t>(value);
  }
  for (const char32_t value : {0x1CU, 0x1FU, 0x200BU, 0x180EU, 0xFEFFU, 0x2060U}) {
    EXPECT_EQ(char_class(value), CharClass::other) << static_cast<uint32_t>(value);
  }
  EXPECT_EQ(char_class('\r'), CharClass::newline);
  EXPECT_EQ(char_class('\n'), CharClass::newline);
}

TEST(Unicode, LettersAndNumbersAreOfEveryScript) {
  for (const char32_t value : {U'a', U'é', U'ß', U'漢', U'ا', U'ǅ', U'ʰ', U'한'}) {
    EXPECT_EQ(char_class(value), CharClass::letter) << static_cast<uint32_t>(value);
  }
  for (const char32_t value : {U'7', U'½', U'Ⅷ', U'٣', U'①', U'²'}) {
    EXPECT_EQ(char_class(value), CharClass::number) << static_cast<uint32_t>(value);
  }
  for (const char32_t value : {U'_', U'\u0301', U'😀', U'€', U'\0', U'\ufffd'}) {
    EXPECT_EQ(char_class(value), CharClass::other) << static_cast<uint32_t>(value);
  }
}

TEST(Unicode, ClassesAreThoseOfUnicode16) {
  EXPECT_EQ(char_class(0x1C89), CharClass::letter);
  EXPECT_EQ(char_class(0x10D40), CharClass::number);
  EXPECT_EQ(char_class(0x10D4A), CharClass::letter);
  EXPECT_EQ(char_class(0x1E5EE), CharClass::other);  // A mark between letters and digits.
  EXPECT_EQ(char_class(0x2EBF0), CharClass::letter);
  EXPECT_EQ(char_class(0x2EE5E), CharClass::other);
}

TEST(Unicode, EachLongestBeginOfACharacterIsReplacedOnce) {
  EXPECT_EQ(to_valid_utf8("a\xE2\x82"
                          "b"),
            "a\uFFFDb");
  EXPECT_EQ(to_valid_utf8("\xFF\xFF"), "\uFFFD\uFFFD");
  EXPECT_EQ(to_valid_utf8("\xF0\x9F\x98"), "\uFFFD");
  EXPECT_EQ(to_valid_utf8("\xC0\x80"), "\uFFFD\uFFFD");
  EXPECT_EQ(to_valid_utf8("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(to_valid_utf8("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(to_valid_utf8("\xE0\xA0"), "\uFFFD");
  EXPECT_EQ(to_valid_utf8("é漢😀"), "é漢😀");
}

TEST(Unicode, ComposesAndOrdersMarks) {
  EXPECT_EQ(to_nfc("e\u0301"), "\u00e9");
  EXPECT_EQ(to_nfc("\u1112\u1161\u11ab"), "\ud55c");
  EXPECT_EQ(to_nfc("\u2126"), "\u03a9");        // Ohm is Omega.
  EXPECT_EQ(to_nfc("\u0958"), "\u0915\u093c");  // Excluded from composition.
  EXPECT_EQ(to_nfc("a\u0301\u0316"), "\u00e1\u0316");
  EXPECT_EQ(to_nfc("q\u0307\u0323"), "q\u0323\u0307");
  EXPECT_EQ(to_nfc("ﬁ"), "ﬁ");  // Compatibility forms stay.
}

TEST(Unicode, CharactersAfterUnicode9AreLeftWhereTheyAre) {
  // U+1DFA came with Unicode 14, with class 218: it would go before the acute.
  EXPECT_EQ(to_nfc("x\u0301\u1dfa"), "x\u0301\u1dfa");
  EXPECT_EQ(to_nfc("e\u1dfa\u0301"), "e\u1dfa\u0301");
  EXPECT_EQ(to_nfc("\U00011935\U00011930"), "\U00011935\U00011930");
}

TEST(Unicode, AMegabyteOfMarksIsNotQuadratic) {
  // Alternating classes 230 and 220: sorted one by one, this would take 10^10 steps.
  std::string text = "a";
  for (int i = 0; i < 250000; ++i) text += "\u0302\u0316";
  const std::string composed = to_nfc(text);
  EXPECT_EQ(composed.substr(0, 4), "\u00e2\u0316");
  EXPECT_EQ(composed.size(), text.size() - 1);
}

TEST(Unicode, NormalisingTwiceIsNormalisingOnce) {
  const bool holds = rc::check([] {
    const std::string text = to_nfc(to_valid_utf8(*arbitrary_text()));
    RC_ASSERT(to_nfc(text) == text);
  });
  EXPECT_TRUE(holds);
}

}  // namespace
}  // namespace plateau::train
