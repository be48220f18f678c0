// SPDX-License-Identifier: Apache-2.0
#include "dataset/record_places.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace plateau {
namespace {

struct Found {
  std::vector<std::string> records;  // With their lines: "2 {...}".
  std::string error;
};

// The text given in pieces of `piece` bytes.
Found found_in(const std::string& text, size_t piece = 1 << 20) {
  RecordFinder finder;
  Found out;
  for (size_t at = 0; at < text.size() && out.error.empty(); at += piece) {
    out.error = finder.add({text.data() + at, std::min(piece, text.size() - at)}).value_or("");
  }
  if (out.error.empty()) out.error = finder.finish().value_or("");
  for (const RecordPlace& place : finder.take()) {
    out.records.push_back(std::to_string(place.line) + " " +
                          text.substr(place.offset, place.bytes));
  }
  return out;
}

using Records = std::vector<std::string>;

TEST(RecordPlaces, LinesThatAreNotBlankAreRecords) {
  EXPECT_EQ(found_in("\n{\"a\":1}\n \n[2]").records, (Records{"2 {\"a\":1}", "4 [2]"}));
}

TEST(RecordPlaces, ElementsOfAnArrayAreRecordsOnHoweverManyLines) {
  EXPECT_EQ(found_in("\n [ {\"a\": [1, {}]}, {\"b\":\n2}\n,{}]\n").records,
            (Records{"2 {\"a\": [1, {}]}", "2 {\"b\":\n2}", "4 {}"}));
  EXPECT_EQ(found_in("[]").records, Records{});
  EXPECT_EQ(found_in("[]").error, "");
}

TEST(RecordPlaces, BracketsAndQuotesInStringsDoNotCount) {
  EXPECT_EQ(found_in(R"([{"a":"]}\"],"},{"b":"\\"}])").records,
            (Records{R"(1 {"a":"]}\"],"})", R"(1 {"b":"\\"})"}));
}

TEST(RecordPlaces, ElementsThatAreNoObjectsAreRecordsToo) {
  EXPECT_EQ(found_in("[1, \"a b\",null , [2]]").records,
            (Records{"1 1", "1 \"a b\"", "1 null", "1 [2]"}));
}

TEST(RecordPlaces, WhatIsNoArrayIsToldWithItsLine) {
  EXPECT_EQ(found_in("[{}\n{}]").error, "line 2: ',' or ']' is expected behind an example");
  EXPECT_EQ(found_in("[{},\n]").error, "line 2: an example is expected behind ','");
  EXPECT_EQ(found_in("[,{}]").error, "line 1: an example is expected before ','");
  EXPECT_EQ(found_in("[{}]\n{}").error, "line 2: something stands behind the end of the array");
  for (const char* cut : {"[", "[{}", "[{},", "[{", "[{\"", "[{\"\\", "[1"}) {
    EXPECT_EQ(found_in(cut).error, "line 1: the file ends within its array: it is cut off") << cut;
  }
}

RC_GTEST_PROP(RecordPlaces, DoNotDependOnHowTheFileIsCutIntoBlocks, ()) {
  const auto text = *rc::gen::container<std::string>(
      rc::gen::element('[', ']', '{', '}', ',', '"', '\\', '\n', ' ', '1'));
  const Found whole = found_in(text);
  const Found pieces = found_in(text, *rc::gen::inRange<size_t>(1, 6));
  RC_ASSERT(whole.error == pieces.error);
  if (whole.error.empty()) RC_ASSERT(whole.records == pieces.records);
}

}  // namespace
}  // namespace plateau
