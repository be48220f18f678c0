// SPDX-License-Identifier: Apache-2.0
#include "trainer/text/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "trainer/text/text_for_test.h"
#include "trainer/text/unicode.h"

namespace plateau::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Ids in these tests are those of Hugging Face's tokenizers 0.23.2 with Qwen2.5's whole file.

TEST(Tokenizer, WordsAndPunctuationHaveTheGenuineIds) {
  EXPECT_THAT(ids("Hello, world!"), ElementsAre(9707, 11, 1879, 0));
  EXPECT_THAT(ids("I'M you're we'LL 'S"), ElementsAre(40, 27603, 498, 2299, 582, 6, 4086, 364, 50));
  EXPECT_THAT(ids(R"({"Marque": {"contents": null, "confidence_score": null}})"),
              ElementsAre(4913, 12061, 591, 788, 5212, 17610, 788, 845, 11, 330, 81929, 10405, 788,
                          845, 3417));
}

TEST(Tokenizer, DigitsAreSingleTokens) {
  EXPECT_THAT(ids("12345 3.14"), ElementsAre(16, 17, 18, 19, 20, 220, 18, 13, 16, 19));
}

TEST(Tokenizer, OddWhiteSpaceHasTheGenuineIds) {
  EXPECT_THAT(ids("  a\n\n  b \r\n\t c   "),
              ElementsAre(220, 264, 271, 220, 293, 2529, 197, 272, 262));
  EXPECT_THAT(ids("a\u0085b"), ElementsAre(64, 126, 227, 65));
}

TEST(Tokenizer, MarksAreComposedFirst) {
  EXPECT_THAT(ids("e\u0301"), ElementsAre(963));
  EXPECT_THAT(ids("\u00e9"), ElementsAre(963));
}

TEST(Tokenizer, SpecialTokensAreParsedOnRequestOnly) {
  const std::string text =
      "<|im_start|>user\n<|vision_start|><|image_pad|><|vision_end|>What?<|im_end|>\n";
  EXPECT_THAT(ids(text),
              ElementsAre(151644, 872, 198, 151652, 151655, 151653, 3838, 30, 151645, 198));
  for (const int64_t id : qwen_cut_down().encode(text, SpecialTokens::text)) EXPECT_LT(id, 151643);
}

TEST(Tokenizer, NearlySpecialTokensAreText) {
  EXPECT_THAT(qwen_cut_down().encode("<|im_end", SpecialTokens::parse),
              qwen_cut_down().encode("<|im_end", SpecialTokens::text));
  EXPECT_THAT(ids("<<|im_end|>>"), ElementsAre(27, 151645, 29));
}

TEST(Tokenizer, MarksDoNotComposeAcrossASpecialToken) {
  const auto encoded =
      qwen_cut_down().encode_with_ranges("e<|im_end|>\u0301", SpecialTokens::parse);
  EXPECT_EQ(encoded.text, "e<|im_end|>\u0301");
}

TEST(Tokenizer, RangesAreBytesOfTheComposedText) {
  const auto encoded =
      qwen_cut_down().encode_with_ranges("e\u0301 a<|im_end|>", SpecialTokens::parse);
  EXPECT_EQ(encoded.text, "\u00e9 a<|im_end|>");
  EXPECT_THAT(texts_of(encoded), ElementsAre("\u00e9", " a", "<|im_end|>"));
}

TEST(Tokenizer, ATokenMayHoldPartOfACharacter) {
  const auto encoded = qwen_cut_down().encode_with_ranges("\u0085", SpecialTokens::parse);
  EXPECT_THAT(texts_of(encoded), ElementsAre("\xC2", "\x85"));
}

TEST(Tokenizer, BytesThatAreNoTextAreReplaced) {
  EXPECT_EQ(ids("a\xFF"
                "b"),
            ids("a\uFFFDb"));
  EXPECT_EQ(ids("\xE2\x82"), ids("\uFFFD"));
}

TEST(Tokenizer, EmptyTextHasNoTokens) {
  EXPECT_THAT(ids(""), IsEmpty());
}

TEST(Tokenizer, DecodingGivesTheComposedTextBack) {
  const bool holds = rc::check([] {
    const std::string text = *arbitrary_text();
    const auto encoded = qwen_cut_down().encode_with_ranges(text, SpecialTokens::parse);
    RC_ASSERT(qwen_cut_down().decode(ids(text), false) == encoded.text);
    const std::string plain =
        qwen_cut_down().decode(qwen_cut_down().encode(text, SpecialTokens::text), false);
    RC_ASSERT(plain == to_nfc(to_valid_utf8(text)));
  });
  EXPECT_TRUE(holds);
}

TEST(Tokenizer, RangesFollowEachOtherAndSpellTheirTokens) {
  const bool holds = rc::check([] {
    const auto encoded =
        qwen_cut_down().encode_with_ranges(*arbitrary_text(), SpecialTokens::parse);
    size_t at = 0;
    for (const Token& token : encoded.tokens) {
      RC_ASSERT(token.begin == at);
      const std::string bytes = qwen_cut_down().decode({&token.id, 1}, false);
      RC_ASSERT(encoded.text.substr(token.begin, token.end - token.begin) == bytes);
      at = token.end;
    }
    RC_ASSERT(at == encoded.text.size());
  });
  EXPECT_TRUE(holds);
}

TEST(Tokenizer, DecodingSkipsSpecialTokensOnRequestAndIdsThatDoNotExist) {
  const std::vector<int64_t> some = {9707, 151645, 151657, 151642, -1, int64_t{1} << 40U};
  EXPECT_EQ(qwen_cut_down().decode(some, true), "Hello<tool_call>");
  EXPECT_EQ(qwen_cut_down().decode(some, false), "Hello<|im_end|><tool_call>");
}

TEST(Tokenizer, TokensAreFoundByName) {
  EXPECT_EQ(qwen_cut_down().id_of("<|im_end|>"), 151645);
  EXPECT_EQ(qwen_cut_down().id_of("Ġworld"), 1879);
  EXPECT_EQ(qwen_cut_down().id_of("no such token"), std::nullopt);
  EXPECT_TRUE(qwen_cut_down().is_special(151645));
  EXPECT_FALSE(qwen_cut_down().is_special(151657));
  EXPECT_FALSE(qwen_cut_down().is_special(9707));
  EXPECT_EQ(qwen_cut_down().size(), 151665);
}

TEST(Tokenizer, AMegabyteWithoutASpaceIsEncoded) {
  const std::string text(size_t{1} << 20U, 'a');
  const auto encoded = qwen_cut_down().encode(text, SpecialTokens::parse);
  EXPECT_EQ(qwen_cut_down().decode(encoded, false), text);
}

TEST(Tokenizer, AMissingFileIsNamed) {
  const auto read = Tokenizer::read("/nowhere/tokenizer.json");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().kind, Error::Kind::not_found);
  EXPECT_THAT(read.error().message, HasSubstr("/nowhere/tokenizer.json"));
}

// The complaint about the file after `from` was replaced by `to` in it.
std::string complaint(const std::string& from, const std::string& to) {
  std::string json = whole_file(qwen_cut_down_file());
  const size_t at = json.find(from);
  if (at == std::string::npos) return "not in the file: " + from;
  json.replace(at, from.size(), to);
  const auto parsed = Tokenizer::parse(json, "t.json");
  return parsed ? "none" : parsed.error().message;
}

TEST(TokenizerFile, WhatIsNotUnderstoodIsNamed) {
  EXPECT_THAT(complaint(R"("type":"BPE")", R"("type":"Unigram")"), HasSubstr("Unigram"));
  EXPECT_THAT(complaint(R"("type":"NFC")", R"("type":"NFKC")"), HasSubstr("NFKC"));
  EXPECT_THAT(complaint(R"(\\p{N}| ?)", R"(\\p{N}{1,3}| ?)"), HasSubstr("pattern"));
  EXPECT_THAT(complaint("Isolated", "Removed"), HasSubstr("Removed"));
  EXPECT_THAT(complaint(R"("use_regex":false)", R"("use_regex":true)"), HasSubstr("use_regex"));
  EXPECT_THAT(complaint(R"("add_prefix_space":false,)", ""), HasSubstr("add_prefix_space"));
  EXPECT_THAT(complaint(R"("dropout":null)", R"("dropout":0.1)"), HasSubstr("dropout"));
  EXPECT_THAT(complaint(R"("byte_fallback":false)", R"("byte_fallback":true)"),
              HasSubstr("byte_fallback"));
  EXPECT_THAT(complaint(R"("fuse_unk":false)", R"("ignore_merges":true)"),
              HasSubstr("ignore_merges"));
  EXPECT_THAT(complaint(R"("lstrip":false)", R"("lstrip":true)"), HasSubstr("lstrip"));
  EXPECT_THAT(complaint(R"("normalized":false)", R"("normalized":true)"), HasSubstr("normalized"));
  EXPECT_THAT(complaint(R"("padding":null)", R"("prefix":null)"), HasSubstr("prefix"));
  EXPECT_THAT(complaint(R"("fuse_unk":false)", R"("window":1)"), HasSubstr("window"));
}

TEST(TokenizerFile, WishesForACallAreIgnored) {
  EXPECT_EQ(complaint(R"("truncation":null)", R"("truncation":{"max_length":2048})"), "none");
  EXPECT_EQ(complaint(R"("post_processor":{)", R"("post_processor":null,"padding":{)"), "none");
}

TEST(TokenizerFile, BrokenVocabulariesAreErrors) {
  EXPECT_THAT(complaint(R"("!":0)", R"("!":1)"), HasSubstr("id 1 stands there twice"));
  EXPECT_THAT(complaint(R"("!":0)", R"("!":-1)"), HasSubstr("token \"!\""));
  EXPECT_THAT(complaint(R"("!":0)", R"("!":16777216)"), HasSubstr("token \"!\""));
  EXPECT_THAT(complaint(R"("!":0)", R"("!":0,"!":0)"), HasSubstr("twice"));
  EXPECT_THAT(complaint(R"("!":0)", R"("?!":0)"), HasSubstr("byte 0x21"));
  EXPECT_THAT(complaint(R"("Ġ Ġ")", R"("Ġ Ġ Ġ")"), HasSubstr("merge 0"));
  EXPECT_THAT(complaint(R"("Ġ Ġ")", R"("q Ġ")"), HasSubstr("merge 0"));
  EXPECT_THAT(complaint(R"("Ġ Ġ")", R"(["Ġ"])"), HasSubstr("merge 0"));
  EXPECT_THAT(complaint(R"("content":"<|im_end|>")", R"("content":"!")"), HasSubstr("added token"));
  EXPECT_THAT(complaint(R"("content":"<|im_end|>")", R"("content":"")"), HasSubstr("added token"));
  EXPECT_THAT(complaint(R"("content":"<|im_end|>")", R"("content":"<|im_start|>")"),
              HasSubstr("twice"));
}

TEST(TokenizerFile, MergesMayBePairs) {
  EXPECT_EQ(complaint(R"("Ġ Ġ")", R"(["Ġ","Ġ"])"), "none");
}

TEST(TokenizerFile, OtherBytesAreNoTokenizer) {
  for (const char* text : {"", "[]", "{", "{}", "null", "\xff", R"({"model":{}})"}) {
    EXPECT_FALSE(Tokenizer::parse(text, "t.json").ok()) << text;
  }
}

}  // namespace
}  // namespace plateau::train
