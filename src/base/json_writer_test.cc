// SPDX-License-Identifier: Apache-2.0
#include "base/json_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace plateau {
namespace {

TEST(JsonWriter, NestsObjectsAndArraysWithCommasInTheRightPlaces) {
  JsonWriter json;
  json.begin_object().key("a").begin_array().value(1).value(2).begin_object().end_object();
  json.end_array().key("b").begin_object().key("c").null().end_object().key("d").value(true);
  json.end_object();
  EXPECT_EQ(json.text(), R"({"a":[1,2,{}],"b":{"c":null},"d":true})");
}

TEST(JsonWriter, MembersObjectsAndListsAreWrittenInTheOrderGiven) {
  struct Point {
    int x = 0;
  };
  const std::vector<Point> points = {{1}, {2}};
  const auto doubled = [](JsonWriter& each, const Point& of) { each.value(2 * of.x); };
  JsonWriter json;
  json.begin_object().members("a", 1, "b", std::vector<std::string>{"x", "y"});
  json.members("c",
               json_object("d", json_list(points, &Point::x), "e", json_list(points, doubled)));
  EXPECT_EQ(json.end_object().text(), R"({"a":1,"b":["x","y"],"c":{"d":[1,2],"e":[2,4]}})");
}

TEST(JsonWriter, WhatIsNotKnownIsNull) {
  struct Level {
    double mb = 5;
  };
  std::optional<Level> level;
  JsonWriter json;
  json.begin_array().value(text_or_null("")).value(value_if(false, 3));
  json.value(member_of(level, &Level::mb)).value(json_if(level, &Level::mb));
  level.emplace();
  json.value(text_or_null("t")).value(value_if(true, 3));
  json.value(member_of(level, &Level::mb)).value(json_if(level, &Level::mb)).end_array();
  EXPECT_EQ(json.text(), R"([null,null,null,null,"t",3,5,5])");
}

TEST(JsonWriter, QuotesControlsAndEscapesAreEscaped) {
  EXPECT_EQ(json_quoted("a\"b\\c\nd\te\rf\x01\x1b[31m\x7f"),
            R"("a\"b\\c\nd\te\rf\u0001\u001b[31m\u007f")");
}

TEST(JsonWriter, BadUtf8BecomesReplacementCharacters) {
  EXPECT_EQ(json_quoted("ok \xff\xc3 \xe2\x82\xac"), "\"ok \uFFFD\uFFFD \u20ac\"");
}

TEST(JsonWriter, NonFiniteNumbersAreNull) {
  JsonWriter json;
  json.begin_array().value(std::nan("")).value(std::numeric_limits<double>::infinity());
  json.value(std::optional<double>()).end_array();
  EXPECT_EQ(json.text(), "[null,null,null]");
}

TEST(JsonWriter, NumbersReadBackAsTheSameDouble) {
  for (const double number : {0.1, 1e300, -2.5e-7, 83.0, 17693.123456789, -0.0, 1e21}) {
    JsonWriter json;
    json.value(number);
    EXPECT_EQ(nlohmann::json::parse(json.text()).get<double>(), number) << json.text();
  }
  JsonWriter whole;
  whole.value(83.0);
  EXPECT_EQ(whole.text(), "83");
}

TEST(JsonWriter, EveryByteStringIsAcceptedByAParser) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  EXPECT_TRUE(nlohmann::json::accept(json_quoted(bytes)));
}

}  // namespace
}  // namespace plateau
