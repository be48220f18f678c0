// SPDX-License-Identifier: Apache-2.0
#include "push/otlp.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/version.h"

namespace plateau::push {
namespace {

TEST(Otlp, OneFigureIsThisJson) {
  const std::vector<MetricSample> samples = {{"up_bytes", {{"run", "a"}}, 1.5}};
  const WriteRequest request = otlp_request(samples, {{"team", "vision"}, {"none", ""}}, 300);
  EXPECT_EQ(request.body,
            R"({"resourceMetrics":[{"resource":{"attributes":[)"
            R"({"key":"service.name","value":{"stringValue":"plateau"}},)"
            R"({"key":"team","value":{"stringValue":"vision"}}]},)"
            R"("scopeMetrics":[{"scope":{"name":"plateau","version":")" +
                std::string(version()) +
                R"("},"metrics":[{"name":"up_bytes","gauge":{"dataPoints":[{"attributes":[)"
                R"({"key":"run","value":{"stringValue":"a"}}],)"
                R"("timeUnixNano":"300000000","asDouble":1.5}]}}]}]}]})");
  EXPECT_EQ(request.series, 1U);
}

TEST(Otlp, WhatIsNotFiniteIsLeftOutAndNothingIsNoRequest) {
  const std::vector<MetricSample> samples = {{"m", {}, NAN}, {"m", {}, INFINITY}};
  EXPECT_EQ(otlp_request(samples, {}, 1).series, 0U);
  EXPECT_EQ(otlp_request(samples, {}, 1).body, "");
}

TEST(Otlp, BadTextAndLongTextBecomeWhatReceiversTake) {
  const std::vector<MetricSample> samples = {
      {"m", {{"bad", "\xff\x1b[31mx"}, {"long", std::string(5000, 'y')}}, 1.0}};
  const std::string body = otlp_request(samples, {}, 1).body;
  EXPECT_EQ(body.find('\xff'), std::string::npos);
  EXPECT_EQ(body.find('\x1b'), std::string::npos);
  EXPECT_LT(body.size(), kLongestLabel + 400);
}

}  // namespace
}  // namespace plateau::push
