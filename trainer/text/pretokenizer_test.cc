// SPDX-License-Identifier: Apache-2.0
#include "trainer/text/pretokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "trainer/text/bpe.h"

namespace plateau::train {
namespace {

using testing::ElementsAre;

std::vector<std::string> pieces(std::string_view text) {
  std::vector<std::string> out;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = piece_end(text, begin);
    out.emplace_back(text.substr(begin, end - begin));
    begin = end;
  }
  return out;
}

TEST(Pretokenizer, WordsTakeOneCharacterBeforeThem) {
  EXPECT_THAT(pieces("Hello, world!"), ElementsAre("Hello", ",", " world", "!"));
  EXPECT_THAT(pieces("(a_b\tc"), ElementsAre("(a", "_b", "\tc"));
  EXPECT_THAT(pieces("\u3000漢字"), ElementsAre("\u3000漢字"));
}

TEST(Pretokenizer, DigitsStandAlone) {
  EXPECT_THAT(pieces("x = 12;"), ElementsAre("x", " =", " ", "1", "2", ";"));
  EXPECT_THAT(pieces("½٣a"), ElementsAre("½", "٣", "a"));
}

TEST(Pretokenizer, ContractionsAreCutInAnyCase) {
  EXPECT_THAT(pieces("I'M you're we'LL 'S"),
              ElementsAre("I", "'M", " you", "'re", " we", "'LL", " '", "S"));
  EXPECT_THAT(pieces("'\u017fx"), ElementsAre("'\u017f", "x"));
  EXPECT_THAT(pieces("'rx 'l"), ElementsAre("'rx", " '", "l"));
  EXPECT_THAT(pieces("o'clock"), ElementsAre("o", "'clock"));
  EXPECT_THAT(pieces("x'"), ElementsAre("x", "'"));
}

TEST(Pretokenizer, PunctuationTakesTheLineEndsAfterIt) {
  EXPECT_THAT(pieces("};\r\n\n  y"), ElementsAre("};\r\n\n", " ", " y"));
  EXPECT_THAT(pieces(" ?! "), ElementsAre(" ?!", " "));
}

TEST(Pretokenizer, WhiteSpaceEndsAtItsLastLineEnd) {
  EXPECT_THAT(pieces("  a\n\n  b \r\n\t c   "),
              ElementsAre(" ", " a", "\n\n", " ", " b", " \r\n", "\t", " c", "   "));
  EXPECT_THAT(pieces("\t!"), ElementsAre("\t", "!"));
  EXPECT_THAT(pieces(" \u00a0 1"), ElementsAre(" \u00a0", " ", "1"));
}

TEST(Pretokenizer, CombiningMarksAreNoLetters) {
  EXPECT_THAT(pieces("q\u0301x"), ElementsAre("q", "\u0301x"));
}

TEST(Bpe, TheLowestRankGoesFirstAndOfEqualsTheLeftmost) {
  // Ids: a=1, b=2, ab=3, bb=4, aab=5 and every other byte 0.
  std::array<uint32_t, 256> byte_ids{};
  byte_ids['a'] = 1;
  byte_ids['b'] = 2;
  MergeTable merges(3);
  merges.set(2, 2, {.rank = 0, .id = 4});
  merges.set(1, 2, {.rank = 1, .id = 3});
  merges.set(1, 3, {.rank = 2, .id = 5});
  BpeMerger merger(merges, byte_ids);
  std::vector<Token> tokens;
  merger.append("aabbb", 10, tokens);
  // bb first, at the left: a a bb b; then nothing fits a bb.
  ASSERT_EQ(tokens.size(), 4U);
  EXPECT_EQ(tokens[2].id, 4);
  EXPECT_EQ(tokens[2].begin, 12U);
  EXPECT_EQ(tokens[2].end, 14U);
  EXPECT_EQ(tokens[3].id, 2);
  tokens.clear();
  merger.append("aab", 0, tokens);
  ASSERT_EQ(tokens.size(), 1U);
  EXPECT_EQ(tokens[0].id, 5);
}

TEST(Bpe, AMegabyteInOnePieceIsNotQuadratic) {
  std::array<uint32_t, 256> byte_ids{};
  byte_ids['a'] = 1;
  MergeTable merges(20);
  for (uint32_t i = 1; i <= 20; ++i) merges.set(i, i, {.rank = i, .id = i + 1});
  BpeMerger merger(merges, byte_ids);
  std::vector<Token> tokens;
  merger.append(std::string(size_t{1} << 20U, 'a'), 0, tokens);
  ASSERT_EQ(tokens.size(), 1U);
  EXPECT_EQ(tokens[0].id, 21);
}

TEST(Bpe, TheLastMergeSetForAPairHolds) {
  MergeTable merges(2);
  merges.set(7, 8, {.rank = 1, .id = 100});
  merges.set(7, 8, {.rank = 5, .id = 200});
  ASSERT_NE(merges.find(7, 8), nullptr);
  EXPECT_EQ(merges.find(7, 8)->id, 200U);
  EXPECT_EQ(merges.find(8, 7), nullptr);
}

}  // namespace
}  // namespace plateau::train
