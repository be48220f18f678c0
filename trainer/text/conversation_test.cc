// SPDX-License-Identifier: Apache-2.0
#include "trainer/text/conversation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "trainer/text/text_for_test.h"

namespace plateau::train {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

Part words(std::string text) {
  return {.text = std::move(text)};
}
Part image(size_t index) {
  return {.kind = Part::Kind::image, .image = index};
}
Message user(std::vector<Part> parts) {
  return {.role = Message::Role::user, .parts = std::move(parts)};
}
Message assistant(std::vector<Part> parts) {
  return {.role = Message::Role::assistant, .parts = std::move(parts)};
}
Message system_message(std::string text) {
  return {.role = Message::Role::system, .parts = {words(std::move(text))}};
}

std::vector<Message> two_turns() {
  return {user({image(0), words("What is in the picture?")}),
          assistant({words("A red square"), words(" and a blue circle.")}),
          user({image(1), image(2), words("Which is larger?")}), assistant({words("The square.")})};
}

EncodedExample encoded(const std::vector<Message>& messages, std::vector<int64_t> image_tokens = {},
                       bool is_generation = false, LossLevel level = LossLevel::all) {
  auto result = encode_conversation(qwen_cut_down(), messages, image_tokens, level, is_generation);
  EXPECT_TRUE(result.ok()) << result.error().message;
  return std::move(result.value());
}

std::string complaint(const std::vector<Message>& messages, std::vector<int64_t> image_tokens) {
  const auto result = encode_conversation(qwen_cut_down(), messages, image_tokens, LossLevel::all);
  return result ? "none" : result.error().message;
}

// What is learned, as text.
std::string learned(const EncodedExample& example) {
  std::vector<int64_t> some;
  for (const int64_t label : example.labels) {
    if (label != kNoLabel) some.push_back(label);
  }
  EXPECT_EQ(static_cast<int64_t>(some.size()), example.labelled);
  return qwen_cut_down().decode(some, false);
}

// Hugging Face's tokenizers with Qwen2.5's whole file, on the rendered template.
constexpr int64_t kTwoTurns[] = {
    151644, 8948,   198,    2610,   525,    264,    10950,  17847,  13,   151645, 198,
    151644, 872,    198,    151652, 151655, 151655, 151655, 151653, 3838, 374,    304,
    279,    6802,   30,     151645, 198,    151644, 77091,  198,    32,   2518,   9334,
    323,    264,    6303,   12671,  13,     151645, 198,    151644, 872,  198,    151652,
    151655, 151653, 151652, 151655, 151655, 151653, 23085,  374,    8131, 30,     151645,
    198,    151644, 77091,  198,    785,    9334,   13,     151645, 198};

TEST(Conversation, SeveralTurnsAndImagesHaveTheGenuineIds) {
  EXPECT_THAT(encoded(two_turns(), {3, 1, 2}).ids, ElementsAreArray(kTwoTurns));
}

TEST(Conversation, OnlyAnswersAndTheirEndsAreLearned) {
  const EncodedExample example = encoded(two_turns(), {3, 1, 2});
  EXPECT_EQ(learned(example), "A red square and a blue circle.<|im_end|>The square.<|im_end|>");
  EXPECT_EQ(example.labelled, 13);
  ASSERT_EQ(example.labels.size(), example.ids.size());
  for (size_t i = 0; i < example.ids.size(); ++i) {
    EXPECT_TRUE(example.labels[i] == kNoLabel || example.labels[i] == example.ids[i]);
  }
}

TEST(Conversation, TheTextIsTheTemplates) {
  EXPECT_EQ(conversation_text(two_turns(), false),
            "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n<|im_start|>user\n"
            "<|vision_start|><|image_pad|><|vision_end|>What is in the picture?<|im_end|>\n"
            "<|im_start|>assistant\nA red square and a blue circle.<|im_end|>\n<|im_start|>user\n"
            "<|vision_start|><|image_pad|><|vision_end|><|vision_start|><|image_pad|><|vision_end|>"
            "Which is larger?<|im_end|>\n<|im_start|>assistant\nThe square.<|im_end|>\n");
}

TEST(Conversation, AGenerationEndsInAnOpenTurn) {
  const std::vector<Message> messages = {system_message("You are"), user({words("What?")})};
  EXPECT_THAT(encoded(messages, {}, true).ids,
              ElementsAre(151644, 8948, 198, 2610, 525, 151645, 198, 151644, 872, 198, 3838, 30,
                          151645, 198, 151644, 77091, 198));
  EXPECT_EQ(encoded(messages, {}, true).labelled, 0);
  EXPECT_EQ(conversation_text(messages, true),
            "<|im_start|>system\nYou are<|im_end|>\n<|im_start|>user\nWhat?<|im_end|>\n"
            "<|im_start|>assistant\n");
}

TEST(Conversation, ItsOwnSystemMessageReplacesTheUsual) {
  const std::vector<int64_t> all = encoded({system_message("You"), user({words("What?")})}).ids;
  EXPECT_EQ(qwen_cut_down().decode(all, false),
            "<|im_start|>system\nYou<|im_end|>\n<|im_start|>user\nWhat?<|im_end|>\n");
}

TEST(Conversation, WhatAUserWroteIsNeverASpecialToken) {
  const EncodedExample example =
      encoded({user({words("<|im_end|><|image_pad|>")}), assistant({words("<|im_start|>user")})});
  int64_t ends = 0;
  int64_t starts = 0;
  for (const int64_t id : example.ids) {
    EXPECT_NE(id, 151655);
    ends += id == 151645 ? 1 : 0;
    starts += id == 151644 ? 1 : 0;
  }
  EXPECT_EQ(ends, 3);
  EXPECT_EQ(starts, 3);
  EXPECT_EQ(learned(example), "<|im_start|>user<|im_end|>");
}

TEST(Conversation, ATokenAcrossTheHeaderIsNotLearned) {
  const EncodedExample example =
      encoded({system_message("You"), assistant({words("\nThe square.")})});
  EXPECT_THAT(example.ids, ElementsAre(151644, 8948, 198, 2610, 151645, 198, 151644, 77091, 271,
                                       785, 9334, 13, 151645, 198));
  EXPECT_EQ(learned(example), "The square.<|im_end|>");
}

TEST(Conversation, AnEmptyAnswerStillTeachesItsEnd) {
  EXPECT_EQ(learned(encoded({user({words("What?")}), assistant({})})), "<|im_end|>");
}

TEST(Conversation, TheLossLevelIsAppliedToAnswersOnly) {
  const std::string json = R"({"city": "Paris"})";
  const std::vector<Message> messages = {user({words(json)}), assistant({words(json)})};
  EXPECT_EQ(learned(encoded(messages)), json + "<|im_end|>");
  EXPECT_EQ(learned(encoded(messages, {}, false, LossLevel::structure)), "cityParis<|im_end|>");
  EXPECT_EQ(learned(encoded(messages, {}, false, LossLevel::keys)), "Paris<|im_end|>");
}

TEST(Conversation, ImagesMustBeNamedOnceInOrder) {
  EXPECT_EQ(complaint({user({image(0)})}, {1}), "none");
  EXPECT_THAT(complaint({user({words("a")})}, {1}), HasSubstr("no message names image 1 of 1"));
  EXPECT_THAT(complaint({user({image(1)})}, {1}), HasSubstr("names image 2, and there are 1"));
  EXPECT_THAT(complaint({user({image(1), image(0)})}, {1, 1}), HasSubstr("in order"));
  EXPECT_THAT(complaint({user({image(0), image(0)})}, {1}), HasSubstr("in order"));
  EXPECT_THAT(complaint({user({image(0)})}, {0}), HasSubstr("no tokens"));
  EXPECT_THAT(complaint({}, {}), HasSubstr("without messages"));
}

TEST(Conversation, ATokenizerWithoutTheTemplatesTokensIsAnError) {
  std::string json = whole_file(qwen_cut_down_file());
  json.replace(json.find("<|vision_end|>"), 14, "<|vision_fin|>");
  const auto tokenizer = Tokenizer::parse(json, "t.json");
  ASSERT_TRUE(tokenizer.ok());
  const std::vector<Message> messages = {user({words("a")})};
  const auto result = encode_conversation(tokenizer.value(), messages, {}, LossLevel::all);
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().message, HasSubstr("<|vision_end|>"));
}

}  // namespace
}  // namespace plateau::train
