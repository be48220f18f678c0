// SPDX-License-Identifier: Apache-2.0
// That Hugging Face's tokenizers reads what is written, and agrees, is the test oracle.tokenizer.
#include "trainer/text/tokenizer_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "trainer/text/text_for_test.h"

namespace plateau::train {
namespace {

std::vector<std::string> some_texts() {
  std::vector<std::string> texts;
  for (int i = 0; i < 40; ++i) {
    texts.push_back(
        "What colour is the square? {\"colour\": \"red\", \"count\": " + std::to_string(i) + "}");
  }
  return texts;
}

Tokenizer made(const std::vector<std::string>& texts, int64_t vocabulary) {
  const auto json = make_tokenizer_json(texts, vocabulary);
  EXPECT_TRUE(json.ok());
  auto parsed = Tokenizer::parse(json.value(), "made");
  EXPECT_TRUE(parsed.ok()) << parsed.error().message;
  return std::move(parsed.value());
}

TEST(TokenizerWriter, FrequentWordsBecomeOneToken) {
  const Tokenizer tokenizer = made(some_texts(), 1024);
  EXPECT_EQ(tokenizer.encode("What colour is the square?", SpecialTokens::text).size(), 6U);
  EXPECT_EQ(tokenizer.encode("zq", SpecialTokens::text).size(), 2U);
}

TEST(TokenizerWriter, AddedTokensComeLastInQwensOrder) {
  const Tokenizer tokenizer = made(some_texts(), 300);
  ASSERT_EQ(tokenizer.size(), 300);
  for (size_t i = 0; i < qwen_tokens().size(); ++i) {
    const int64_t id = 278 + static_cast<int64_t>(i);
    EXPECT_EQ(tokenizer.id_of(qwen_tokens()[i].content), id);
    EXPECT_EQ(tokenizer.is_special(id), qwen_tokens()[i].is_special);
    EXPECT_EQ(qwen_cut_down().id_of(qwen_tokens()[i].content), 151643 + static_cast<int64_t>(i));
  }
}

TEST(TokenizerWriter, BytesAreNumberedAsInQwensVocabulary) {
  const Tokenizer tokenizer = made({}, 278);
  for (int64_t id = 0; id < 256; ++id) {
    EXPECT_EQ(tokenizer.decode({&id, 1}, false), qwen_cut_down().decode({&id, 1}, false)) << id;
  }
}

TEST(TokenizerWriter, TheVocabularyIsSmallerWhereNothingRepeats) {
  EXPECT_EQ(made({"abcdef"}, 1024).size(), 278);
  EXPECT_LT(made(some_texts(), 1024).size(), 1024);
}

TEST(TokenizerWriter, TheSameTextsGiveTheSameFile) {
  EXPECT_EQ(make_tokenizer_json(some_texts(), 400).value(),
            make_tokenizer_json(some_texts(), 400).value());
}

TEST(TokenizerWriter, TooSmallAVocabularyIsAnError) {
  const auto json = make_tokenizer_json({}, 277);
  ASSERT_FALSE(json.ok());
  EXPECT_THAT(json.error().message, testing::HasSubstr("278"));
}

TEST(TokenizerWriter, EveryTextComesBack) {
  const Tokenizer tokenizer = made(some_texts(), 400);
  for (const std::string& text : some_texts()) {
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text, SpecialTokens::text), false), text);
  }
}

}  // namespace
}  // namespace plateau::train
