// SPDX-License-Identifier: Apache-2.0
#include "fleet/plan.h"

#include <gtest/gtest.h>

namespace plateau::fleet {
namespace {

std::vector<RawSeries> pods(size_t spaces, size_t pods_each) {
  std::vector<RawSeries> all;
  for (size_t s = 0; s < spaces; ++s) {
    for (size_t p = 0; p < pods_each; ++p) {
      all.push_back({labels_of({{"namespace", "n" + std::to_string(s)},
                                {"pod", "p" + std::to_string(s) + "-" + std::to_string(p)},
                                {"container", "app"}}),
                     {}});
    }
  }
  return all;
}

TEST(Shards, HoldEverySeriesOnceAndNoneTooMany) {
  const std::vector<Shard> shards = deal(pods(5, 100), preset_named("kubernetes").value(), 60);
  size_t series = 0;
  for (const Shard& shard : shards) {
    EXPECT_LE(shard.series(), 60U);
    EXPECT_EQ(shard.label, "pod");
    series += shard.series();
  }
  EXPECT_EQ(series, 500U);
}

TEST(Shards, KeepWhatIsToldTwiceTogether) {
  std::vector<RawSeries> all = pods(1, 3);
  std::vector<RawSeries> again = pods(1, 3);
  all.insert(all.end(), again.begin(), again.end());
  const std::vector<Shard> shards = deal(all, preset_named("kubernetes").value(), 2);
  ASSERT_EQ(shards.size(), 3U);
  for (const Shard& shard : shards) EXPECT_EQ(shard.series(), 2U);
}

TEST(Shards, OfOneLargeValueAreSplitByAnotherLabel) {
  std::vector<RawSeries> all;
  for (int i = 0; i < 100; ++i) {
    const std::string job = i < 90 ? "big" : "small" + std::to_string(i);
    all.push_back({labels_of({{"job", job}, {"instance", "host" + std::to_string(i % 10)}}), {}});
  }
  for (const Shard& shard : deal(all, preset_named("process").value(), 20)) {
    EXPECT_LE(shard.series(), 20U) << shard.text();
  }
}

TEST(Shards, OfOneThingCannotBeSplit) {
  const std::vector<Shard> shards = deal(pods(1, 1), preset_named("kubernetes").value(), 10);
  ASSERT_EQ(shards.size(), 1U);
  EXPECT_EQ(shards[0].text(), "");
  EXPECT_TRUE(deal({}, preset_named("kubernetes").value(), 10).empty());
}

TEST(Shards, HaveTwoHalves) {
  const std::vector<Shard> shards = deal(pods(1, 5), preset_named("kubernetes").value(), 10);
  const auto [first, second] = halves(shards[0]);
  EXPECT_EQ(first.series() + second.series(), 5U);
  EXPECT_EQ(first.values.size(), 2U);
}

TEST(Matchers, QuoteWhatMeansSomethingInAnExpression) {
  const std::vector<std::string> values = {"a.b", "c\"d", "e\\f"};
  EXPECT_EQ(matcher_of("pod", values), R"(pod=~"a\\.b|c\"d|e\\\\f")");
}

TEST(Selectors, AreTakenApart) {
  const Result<Selector> selector = parse_selector(R"( heap_bytes{env="prod"} )");
  ASSERT_TRUE(selector.ok());
  EXPECT_EQ(selector.value().metric, "heap_bytes");
  EXPECT_EQ(selector.value().matchers, R"(env="prod")");
  EXPECT_TRUE(parse_selector("heap_bytes").ok());
  EXPECT_TRUE(parse_selector(R"({__name__=~"a|b"})").ok());
}

TEST(Selectors, AreNoFunctions) {
  for (const char* text : {"", "sum(heap_bytes)", "a + b", "a{b", "7up", "rate(x[5m])", "{}"}) {
    EXPECT_FALSE(parse_selector(text).ok()) << text;
  }
}

TEST(Presets, AreFoundByNameOrNamed) {
  EXPECT_EQ(preset_named("cadvisor").value().name, "kubernetes");
  const Result<Preset> none = preset_named("zabbix");
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().message.find("process-exporter"), std::string::npos);
}

}  // namespace
}  // namespace plateau::fleet
