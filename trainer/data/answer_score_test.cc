// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/answer_score.h"

#include <gtest/gtest.h>

namespace plateau::train {
namespace {

TEST(AnswerScore, WordForWordButForSpaceAround) {
  EXPECT_EQ(score_answer("a disc\n", "a disc").exact, 1);
  EXPECT_EQ(score_answer("a  disc", "a disc").exact, 0);
  EXPECT_EQ(score_answer("a disc", "a disc").json_expected, 0);
  EXPECT_EQ(score_answer("3", "3").json_expected, 0);
}

TEST(AnswerScore, FieldsAreComparedByPathTypeAndValue) {
  const AnswerScore score = score_answer(R"({"shape": "disc", "colour": "blue", "size": 3})",
                                         R"({"shape":"disc","colour":"red"})");
  EXPECT_EQ(score, (AnswerScore{.asked = 1,
                                .json_expected = 1,
                                .json_valid = 1,
                                .fields = 2,
                                .fields_right = 1,
                                .fields_extra = 1}));
}

TEST(AnswerScore, OrderAndSpaceOfJsonDoNotCountAndNumbersAreNumbers) {
  const AnswerScore score =
      score_answer("{\"b\": [1, 2.50],\n \"a\": null}", R"({"a":null,"b":[1.0,2.5]})");
  EXPECT_EQ(score.exact, 0);
  EXPECT_EQ(score.fields_right, 3);
  EXPECT_EQ(score.fields, 3);
  EXPECT_EQ(score_answer(R"({"a":"1"})", R"({"a":1})").fields_right, 0);
}

TEST(AnswerScore, EmptyContainersAreFieldsOfTheirOwn) {
  EXPECT_EQ(score_answer(R"({"a":[],"b":{}})", R"({"a":[],"b":{}})").fields_right, 2);
  EXPECT_EQ(score_answer(R"({"a":{}})", R"({"a":[]})").fields_right, 0);
  EXPECT_EQ(score_answer("{}", "{}").fields_right, 1);
}

TEST(AnswerScore, AnAnswerThatIsNoJsonHasNoFieldRight) {
  const AnswerScore score = score_answer(R"({"a": 1)", R"({"a": 1})");
  EXPECT_EQ(score.json_valid, 0);
  EXPECT_EQ(score.fields, 1);
  EXPECT_EQ(score.fields_right, 0);
}

TEST(AnswerScore, SumsBecomeShares) {
  AnswerScore sum;
  EXPECT_EQ(sum.exact_match(), 0);
  sum += score_answer(R"({"a":1,"b":2})", R"({"a":1,"b":2})");
  sum += score_answer("no", R"({"a":1,"b":2})");
  EXPECT_DOUBLE_EQ(sum.exact_match(), 0.5);
  EXPECT_DOUBLE_EQ(sum.json_validity(), 0.5);
  EXPECT_DOUBLE_EQ(sum.field_accuracy(), 0.5);
}

}  // namespace
}  // namespace plateau::train
