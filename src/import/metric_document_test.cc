// SPDX-License-Identifier: Apache-2.0
// Points of metrics, whatever product lists them, become lines in the order of their times.
#include "import/metric_document.h"

#include <gtest/gtest.h>

#include <string>

#include "import/byte_source.h"
#include "import/import.h"

namespace plateau {
namespace {

std::string lines_of(std::string_view document) {
  LineReader reader(open_memory(document, {}));
  const auto lines = points_as_lines(reader);
  return lines.ok() ? lines.value() : "error: " + lines.error().message;
}

TEST(MetricDocument, PointsAreSortedAndNamedByWhatStandsAroundThem) {
  EXPECT_EQ(lines_of(R"({"Label": "MemoryUtilization", "Datapoints": [
    {"Timestamp": "2026-04-07T10:10:00+00:00", "Average": 41.5, "Unit": "Percent"},
    {"Timestamp": "2026-04-07T10:00:00+00:00", "Average": 40.5, "Unit": "Percent"},
    {"Timestamp": "2026-04-07T10:05:00+00:00", "Average": 41, "Unit": "Percent"}]})"),
            "{\"timestamp\":1775556000.000,\"MemoryUtilization (Percent)\":40.5}\n"
            "{\"timestamp\":1775556300.000,\"MemoryUtilization (Percent)\":41}\n"
            "{\"timestamp\":1775556600.000,\"MemoryUtilization (Percent)\":41.5}\n");
}

TEST(MetricDocument, WhatDiffersAroundListsOfOneNameIsTheirLabel) {
  const std::string lines = lines_of(R"({"series": [
    {"metric": "mem.used", "scope": "host:a", "pointlist": [[1772532000000, 7], [1772532060000, 8],
     [1772532120000, 9]]},
    {"metric": "mem.used", "scope": "host:b", "pointlist": [[1772532000000, 5], [1772532060000, 5],
     [1772532120000, null]]}]})");
  EXPECT_NE(lines.find("\"series\":\"host:a\",\"mem.used\":7"), std::string::npos) << lines;
  EXPECT_NE(lines.find("\"series\":\"host:b\",\"mem.used\":5"), std::string::npos) << lines;
}

TEST(MetricDocument, TheTimeMayStandBehindTheValue) {
  EXPECT_EQ(lines_of(R"([{"target": "web1.memory.rss", "datapoints":
    [[2100000000, 1772532000], [1900000000, 1772532060], [2000000000, 1772532120]]}])"),
            "{\"timestamp\":1772532000.000,\"web1.memory.rss\":2100000000}\n"
            "{\"timestamp\":1772532060.000,\"web1.memory.rss\":1900000000}\n"
            "{\"timestamp\":1772532120.000,\"web1.memory.rss\":2000000000}\n");
}

TEST(MetricDocument, AnAmountInQuotesIsNoTimeHoweverLarge) {
  const std::string lines =
      lines_of(R"({"timeSeries": [{"metric": {"type": "k8s/memory/used_bytes"},
    "points": [{"interval": {"endTime": "2026-04-07T10:02:00Z"}, "value": {"int64Value": "2100000002"}},
    {"interval": {"endTime": "2026-04-07T10:01:00Z"}, "value": {"int64Value": "2100000001"}},
    {"interval": {"endTime": "2026-04-07T10:00:00Z"}, "value": {"int64Value": "2100000000"}}]}]})");
  EXPECT_TRUE(lines.starts_with("{\"timestamp\":1775556000.000,\"memory/used_bytes\":2100000000}"))
      << lines;
}

TEST(MetricDocument, ADocumentWithoutPointsIsRefusedByName) {
  EXPECT_EQ(lines_of(R"({"name": "memory", "values": [1, 2, 3]})"), "");
  const auto runs = import_bytes("package.json", "{\n  \"name\": \"memory\"\n}\n");
  ASSERT_FALSE(runs.ok());
  EXPECT_NE(runs.error().message.find("JSON document"), std::string::npos) << runs.error().message;
}

}  // namespace
}  // namespace plateau
