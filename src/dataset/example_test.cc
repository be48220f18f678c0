// SPDX-License-Identifier: Apache-2.0
#include "dataset/example.h"

#include <gmock/gmock.h>

namespace plateau {
namespace {

using ::testing::HasSubstr;

Result<TrainingExample> example(std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::element element;
  EXPECT_EQ(parser.parse(json.data(), json.size()).get(element), simdjson::SUCCESS);
  return read_example(element);
}

TEST(Example, MessagesWithPartsAndPicturesBesideThem) {
  const TrainingExample parts =
      example(R"({"messages": [{"role": "user", "content": [{"type": "image", "image": "a.png"},
    {"type": "text", "text": "what?"}]}, {"role": "assistant", "content": "a cat"}]})")
          .value();
  EXPECT_EQ(parts.form, "messages");
  EXPECT_EQ(parts.pictures.size(), 1u);
  EXPECT_EQ(parts.in_parts, 1);
  EXPECT_EQ(parts.placeholders, 0);
  EXPECT_TRUE(parts.turns[1].is_learned);
  const TrainingExample beside =
      example(R"({"messages": [{"role": "user", "content": "<image>what?"},
    {"role": "assistant", "content": "a cat"}], "images": ["a.png"]})")
          .value();
  EXPECT_EQ(beside.placeholders, 1);
  EXPECT_EQ(beside.in_parts, 0);
  EXPECT_EQ(beside.pictures[0].reference, "a.png");
}

TEST(Example, ShareGptNamesItsRolesOtherwise) {
  const TrainingExample found = example(R"({"conversations": [{"from": "human", "value": "hi"},
    {"from": "gpt", "value": "hello"}], "system": "be brief"})")
                                    .value();
  EXPECT_EQ(found.form, "conversations");
  ASSERT_EQ(found.turns.size(), 3u);
  EXPECT_EQ(found.turns[0].role, "system");
  EXPECT_EQ(found.turns[2].role, "assistant");
  EXPECT_TRUE(found.turns[2].is_learned);
}

TEST(Example, TheOtherDocumentedForms) {
  EXPECT_EQ(example(R"({"prompt": "a", "completion": "b"})").value().form, "prompt");
  EXPECT_TRUE(
      example(R"({"prompt": [{"role": "user", "content": "a"}], "completion": [{"role": "assistant",
    "content": "b"}]})")
          .value()
          .turns[1]
          .is_learned);
  EXPECT_EQ(example(R"({"instruction": "a", "input": "x", "output": "b"})").value().turns[0].text,
            "a\nx");
  EXPECT_EQ(
      example(R"({"query": "a", "response": "b", "history": [["c", "d"]]})").value().turns.size(),
      4u);
  EXPECT_TRUE(example(R"({"text": "all of it"})").value().turns[0].is_learned);
}

TEST(Example, WhatIsNoneSaysWhatItHas) {
  EXPECT_EQ(example(R"({"a": 1, "b": 2})").error().message,
            "none of the known forms: it has \"a\", \"b\"");
  EXPECT_EQ(example("[]").error().message, "an example must be an object, found a list");
  EXPECT_EQ(example("{}").error().message, "an empty object");
  EXPECT_EQ(example(R"({"messages": []})").error().message, "\"messages\" is empty");
  EXPECT_EQ(example(R"({"messages": [3]})").error().message,
            "turn 1 of \"messages\" must be an object, found a number");
  EXPECT_THAT(example(R"({"messages": [{"role": "user"}]})").error().message,
              HasSubstr("no content"));
  EXPECT_THAT(example(R"({"prompt": "a"})").error().message, HasSubstr("without \"completion\""));
  EXPECT_THAT(example(R"({"text": 3})").error().message, HasSubstr("must be a string"));
}

}  // namespace
}  // namespace plateau
