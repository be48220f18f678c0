// SPDX-License-Identifier: Apache-2.0
#include "push/write_request.h"

#include <gtest/gtest.h>

#include <cmath>

namespace plateau::push {
namespace {

TEST(WriteRequest, OneSampleIsTheseBytes) {
  const std::vector<MetricSample> samples = {{"up", {{"run", "a"}}, 1.0}};
  const WriteRequest request = write_request(samples, {}, 300);
  const std::string name = "\x0a\x0e\x0a\x08__name__\x12\x02up";
  const std::string run =
      "\x0a\x08\x0a\x03run\x12\x01"
      "a";
  const std::string sample("\x12\x0c\x09\0\0\0\0\0\0\xf0\x3f\x10\xac\x02", 14);
  EXPECT_EQ(request.body, "\x0a\x28" + name + run + sample);
  EXPECT_EQ(request.series, 1U);
}

TEST(WriteRequest, LabelsComeInOrderAndOnce) {
  const std::vector<MetricSample> samples = {{"m", {{"zone", "z"}, {"job", "own"}}, 1.0}};
  const std::string body = write_request(samples, {{"job", "other"}, {"instance", "h"}}, 1).body;
  const size_t name = body.find("__name__");
  const size_t instance = body.find("instance");
  const size_t job = body.find("job");
  const size_t zone = body.find("zone");
  EXPECT_LT(name, instance);
  EXPECT_LT(instance, job);
  EXPECT_LT(job, zone);
  EXPECT_NE(body.find("own"), std::string::npos);
  EXPECT_EQ(body.find("other"), std::string::npos);
}

TEST(WriteRequest, WhatIsNotFiniteIsLeftOut) {
  const std::vector<MetricSample> samples = {{"m", {}, NAN}, {"m", {}, INFINITY}};
  EXPECT_EQ(write_request(samples, {}, 1).series, 0U);
  EXPECT_EQ(write_request(samples, {}, 1).body, "");
}

TEST(WriteRequest, BadTextAndLongTextBecomeWhatReceiversTake) {
  const std::vector<MetricSample> samples = {
      {"m", {{"bad", "\xff\x1b[31mx"}, {"long", std::string(5000, 'y')}, {"none", ""}}, 1.0}};
  const std::string body = write_request(samples, {}, 1).body;
  EXPECT_EQ(body.find('\xff'), std::string::npos);
  EXPECT_EQ(body.find('\x1b'), std::string::npos);
  EXPECT_LT(body.size(), kLongestLabel + 200);
  EXPECT_EQ(body.find("none"), std::string::npos);
}

TEST(LabelName, FollowsPrometheus) {
  for (const char* good : {"a", "_x", "zone_2"}) EXPECT_TRUE(is_label_name(good)) << good;
  for (const char* bad : {"", "2a", "a-b", "a b", "__name__", "ä"}) {
    EXPECT_FALSE(is_label_name(bad)) << bad;
  }
}

}  // namespace
}  // namespace plateau::push
