// SPDX-License-Identifier: Apache-2.0
#include "dataset/csv_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plateau {
namespace {

using testing::ElementsAre;

TEST(CsvRecord, QuotedFieldsHoldSeparatorsLinesAndQuotes) {
  EXPECT_THAT(csv_fields("\"a\nb\",\"say \"\"hi\"\", you\",c\r"),
              ElementsAre("a\nb", "say \"hi\", you", "c"));
  EXPECT_THAT(csv_fields("\"\",\"\"\"\",", ','), ElementsAre("", "\"", ""));
}

TEST(CsvRecord, AQuoteWithinAFieldIsText) {
  EXPECT_THAT(csv_fields("a 5\" pipe,b"), ElementsAre("a 5\" pipe", "b"));
}

TEST(CsvRecord, ListsOfTurnsAreJsonAndAnswersAreText) {
  EXPECT_EQ(
      csv_to_json({"messages", "output"}, R"("[{""role"":""user""}]","[{""box"":1}]")").value(),
      R"({"messages":[{"role":"user"}],"output":"[{\"box\":1}]"})");
  EXPECT_EQ(csv_to_json({"messages", "x"}, "[not json,").value(),
            R"({"messages":"[not json","x":null})");
}

TEST(CsvRecord, TooFewFieldsAreAnError) {
  EXPECT_EQ(csv_to_json({"a", "b", "c"}, "1\t2", '\t').error().message,
            "3 fields are expected, as in the header, found 2");
}

}  // namespace
}  // namespace plateau
