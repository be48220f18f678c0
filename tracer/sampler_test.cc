// SPDX-License-Identifier: Apache-2.0
#include "tracer/sampler.h"

#include <gtest/gtest.h>

#include <cmath>

namespace plateau::trace {
namespace {

TEST(Sampler, LogarithmAgreesWithTheLibrary) {
  for (int exponent = -53; exponent < 0; ++exponent) {
    for (int i = 0; i < 100; ++i) {
      const double x = std::ldexp(1 + i / 100.0, exponent);
      EXPECT_NEAR(log_of_fraction(x), std::log(x), 1e-8);
    }
  }
}

TEST(Sampler, DistancesAreExponential) {
  uint64_t state = 12345;
  constexpr int kDraws = 400'000;
  constexpr double kMean = 65536;
  double sum = 0;
  int beyond_mean = 0;
  int beyond_three = 0;
  for (int i = 0; i < kDraws; ++i) {
    const auto distance = static_cast<double>(draw_distance(state, 16));
    sum += distance;
    beyond_mean += distance >= kMean ? 1 : 0;
    beyond_three += distance >= 3 * kMean ? 1 : 0;
  }
  // Five standard errors each.
  EXPECT_NEAR(sum / kDraws, kMean, 5 * kMean / std::sqrt(kDraws));
  EXPECT_NEAR(beyond_mean / double{kDraws}, std::exp(-1.0), 5 * std::sqrt(0.25 / kDraws));
  EXPECT_NEAR(beyond_three / double{kDraws}, std::exp(-3.0), 5 * std::sqrt(0.05 / kDraws));
}

// The estimator of the recorder: a sampled block of s bytes stands for s / (1 - exp(-s/T)).
TEST(Sampler, EstimateIsUnbiasedForAnyMixOfSizes) {
  constexpr uint32_t kLog2 = 12;
  const double interval = std::ldexp(1, kLog2);
  for (const uint64_t size : {1, 24, 700, 4096, 100'000}) {
    uint64_t state = 99 + size;
    int64_t countdown = draw_distance(state, kLog2);
    const auto bytes = static_cast<double>(size);
    const double p = 1 - std::exp(-bytes / interval);
    constexpr int kBlocks = 1'000'000;
    double estimate = 0;
    for (int i = 0; i < kBlocks; ++i) {
      // A second size in between must not disturb the first.
      countdown -= 333;
      if (countdown < 0) {
        countdown = draw_distance(state, kLog2);
      }
      countdown -= static_cast<int64_t>(size);
      if (countdown < 0) {
        countdown = draw_distance(state, kLog2);
        estimate += bytes / p;
      }
    }
    const double truth = bytes * kBlocks;
    const double error = truth * std::sqrt((1 - p) / p / kBlocks);
    EXPECT_NEAR(estimate, truth, 5 * error + truth * 1e-9) << size << " bytes";
  }
}

}  // namespace
}  // namespace plateau::trace
