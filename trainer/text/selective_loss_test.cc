// SPDX-License-Identifier: Apache-2.0
#include "trainer/text/selective_loss.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "trainer/text/text_for_test.h"

namespace plateau::train {
namespace {

using testing::ElementsAre;

// The tokens of `text` that `level` keeps.
std::vector<std::string> kept(std::string_view text, LossLevel level) {
  const auto encoded = qwen_cut_down().encode_with_ranges(text, SpecialTokens::text);
  const std::vector<bool> left_out = tokens_left_out(encoded, 0, level);
  const std::vector<std::string> texts = texts_of(encoded);
  std::vector<std::string> out;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (!left_out[i]) out.push_back(texts[i]);
  }
  return out;
}

constexpr std::string_view kAnswer =
    R"({"city": "Paris", "open": true, "rooms": [1, 23], "wifi": null})";

TEST(SelectiveLoss, EachLevelLeavesOutOneClassMore) {
  EXPECT_EQ(kept(kAnswer, LossLevel::all).size(), 26U);
  EXPECT_THAT(
      kept(kAnswer, LossLevel::structure),
      ElementsAre("city", "Paris", "open", " true", "rooms", "1", "2", "3", "wifi", " null"));
  EXPECT_THAT(kept(kAnswer, LossLevel::keys),
              ElementsAre("Paris", " true", "1", "2", "3", " null"));
  EXPECT_THAT(kept(kAnswer, LossLevel::literals), ElementsAre("Paris", "1", "2", "3"));
}

TEST(SelectiveLoss, AnswersThatAreNoJsonAreLearnedWhole) {
  for (const std::string text :
       {"The square.", "42", "null", "```json\n{\"city\": \"Paris\"}\n```", "{\"city\": "}) {
    EXPECT_EQ(kept(text, LossLevel::literals), kept(text, LossLevel::all)) << text;
  }
}

TEST(SelectiveLoss, WordsOfAValueAreKeptWhateverTheyAre) {
  const std::string text = R"({"type": "not required", "format": "number"})";
  std::string all;
  for (const std::string& token : kept(text, LossLevel::literals)) all += token;
  EXPECT_EQ(all, "not requirednumber");
}

TEST(SelectiveLoss, ATokenOverABorderIsKept) {
  // With merges of our own: after a line end, `"a` is one token, half quote and half key.
  const auto json = make_tokenizer_json(std::vector<std::string>{"\n\"a\n\"a\n\"a"}, 279);
  const auto tokenizer = Tokenizer::parse(json.value(), "made");
  ASSERT_TRUE(tokenizer.ok());
  const auto encoded = tokenizer.value().encode_with_ranges("{\n\"a\":1}", SpecialTokens::text);
  ASSERT_THAT(texts_of(encoded), ElementsAre("{", "\n", "\"a", "\"", ":", "1", "}"));
  EXPECT_THAT(tokens_left_out(encoded, 0, LossLevel::structure),
              ElementsAre(true, true, false, true, true, false, true));
  EXPECT_THAT(tokens_left_out(encoded, 0, LossLevel::keys),
              ElementsAre(true, true, true, true, true, false, true));
}

TEST(SelectiveLoss, OnlyTheAnswerIsParsed) {
  const auto encoded =
      qwen_cut_down().encode_with_ranges("assistant\n{\"city\": \"Paris\"}", SpecialTokens::text);
  EXPECT_THAT(tokens_left_out(encoded, 10, LossLevel::keys),
              ElementsAre(false, false, true, true, true, true, false, true));
}

TEST(SelectiveLoss, CompatReproducesModelGardensRules) {
  for (const char* token :
       {" ", "\n\n", "\u3000", "{\"", "\": ", "type", " type", "not", "\"type\":", "null", " NULL",
        "Number", "Object", "a.type", "x-format", "a$ref"}) {
    EXPECT_TRUE(is_left_out_by_compat(token)) << token;
  }
  for (const char* token : {"Type", "types", "my_type", "typed", "nullable", "true", "false",
                            "title", "$ref", "Paris", "\u00e9type", "<", "'", "\xE2\x82", "1"}) {
    EXPECT_FALSE(is_left_out_by_compat(token)) << token;
  }
}

TEST(SelectiveLoss, CompatMasksWordsThatAreValues) {
  // Model Garden also counts the line ends around the answer and the end of the turn: 16 of 23
  // tokens, of which 14 are in the answer's 20.
  const std::string answer =
      R"({"note": "The number is not required, type unknown", "format": "A4"})";
  EXPECT_THAT(kept(answer, LossLevel::compat),
              ElementsAre("note", "The", " is", " unknown", "A", "4"));
  size_t masked = 0;
  const auto encoded =
      qwen_cut_down().encode_with_ranges("\n" + answer + "<|im_end|>\n", SpecialTokens::parse);
  for (const std::string& token : texts_of(encoded))
    masked += is_left_out_by_compat(token) ? 1U : 0U;
  EXPECT_EQ(encoded.tokens.size(), 23U);
  EXPECT_EQ(masked, 16U);
}

}  // namespace
}  // namespace plateau::train
