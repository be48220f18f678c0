// SPDX-License-Identifier: Apache-2.0
// The sampler of the tracer and the estimate of the recorder together: does the stated error cover
// the truth as often as it says? Simulated heaps, so that thousands of runs cost nothing.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "heap/site_table.h"
#include "tracer/sampler.h"

namespace plateau {
namespace {

constexpr unsigned kIntervalLog2 = 19;  // 512 KiB, the default.

struct Estimate {
  double bytes = 0;
  double variance = 0;
};

// Blocks of one site, sampled as the tracer does and weighed as the recorder does. Between them
// other sites allocate `between` bytes.
Estimate estimate_of(const std::vector<uint64_t>& blocks, uint64_t between, uint64_t& random) {
  Estimate estimate;
  int64_t countdown = trace::draw_distance(random, kIntervalLog2);
  const auto is_due = [&](uint64_t bytes) {
    countdown -= static_cast<int64_t>(bytes);
    if (countdown >= 0) return false;
    countdown = trace::draw_distance(random, kIntervalLog2);
    return true;
  };
  for (const uint64_t bytes : blocks) {
    is_due(between);
    if (!is_due(bytes)) continue;
    const BlockWeight weight = weight_of(bytes, kIntervalLog2);
    estimate.bytes += static_cast<double>(bytes) * weight.blocks;
    estimate.variance += weight.variance;
  }
  return estimate;
}

std::vector<uint64_t> mixed_blocks(uint64_t total, uint64_t seed) {
  std::vector<uint64_t> blocks;
  for (uint64_t sum = 0; sum < total;) {
    // 1 KiB to 1 MiB, each power of two as likely as the next, and anything in between.
    const uint64_t base = uint64_t{1024} << (trace::next_random(seed) >> 32) % 10;
    blocks.push_back(base + (trace::next_random(seed) >> 32) % base);
    sum += blocks.back();
  }
  return blocks;
}

double sum_of(const std::vector<uint64_t>& blocks) {
  double sum = 0;
  for (const uint64_t bytes : blocks) sum += static_cast<double>(bytes);
  return sum;
}

struct Coverage {
  double within_one = 0;  // Share of runs whose truth is within one stated standard error.
  double within_two = 0;
  double mean = 0;  // Of the estimates, as a share of the truth.
};

Coverage coverage_of(const std::vector<uint64_t>& blocks, uint64_t seed) {
  constexpr int kRuns = 2000;
  const double truth = sum_of(blocks);
  Coverage coverage;
  for (int i = 0; i < kRuns; ++i) {
    const Estimate estimate = estimate_of(blocks, 3000, seed);
    const double off = std::abs(estimate.bytes - truth);
    const double error = std::sqrt(estimate.variance);
    coverage.within_one += off <= error ? 1.0 / kRuns : 0;
    coverage.within_two += off <= 2 * error ? 1.0 / kRuns : 0;
    coverage.mean += estimate.bytes / truth / kRuns;
  }
  return coverage;
}

// Normal: 68.3 and 95.4 %. The stated error is itself estimated from few samples, and is too small
// when the estimate is, so a small heap falls a little short. Bounds are the rates with four
// standard errors of 2000 runs.
TEST(Estimate, StatedErrorCoversTheTruthAsOftenAsItSays) {
  for (const uint64_t megabytes : {25, 50, 200}) {
    const Coverage coverage = coverage_of(mixed_blocks(megabytes << 20, megabytes), 7 + megabytes);
    EXPECT_NEAR(coverage.within_one, 0.683, 0.045) << megabytes << " MiB";
    EXPECT_GE(coverage.within_two, 0.92) << megabytes << " MiB";
    EXPECT_NEAR(coverage.mean, 1, 0.01) << megabytes << " MiB";
  }
}

TEST(Estimate, StatedErrorHoldsForBlocksOfOneSize) {
  for (const uint64_t bytes : {uint64_t{512}, uint64_t{64} << 10, uint64_t{1} << 20}) {
    const std::vector<uint64_t> blocks((uint64_t{64} << 20) / bytes, bytes);
    const Coverage coverage = coverage_of(blocks, bytes);
    // Of large blocks only whole numbers can be missed, so the rates come in steps.
    EXPECT_GE(coverage.within_one, 0.60) << bytes;
    EXPECT_GE(coverage.within_two, 0.90) << bytes;
    EXPECT_NEAR(coverage.mean, 1, 0.01) << bytes;
  }
}

// What a site must hold for the promise of 10 %: 100 samples for one standard error of 10 %, 400
// for two. 5 % of a heap of 4 GiB are 410 samples if its blocks are small.
TEST(Estimate, FivePercentOfFourGigabytesAreWithinATenthInNineteenOfTwentyRuns) {
  const std::vector<uint64_t> blocks(((uint64_t{4} << 30) / 20) >> 12, 4096);
  const double truth = sum_of(blocks);
  uint64_t random = 12345;
  constexpr int kRuns = 400;
  int within = 0;
  for (int i = 0; i < kRuns; ++i) {
    within += std::abs(estimate_of(blocks, 0, random).bytes / truth - 1) <= 0.10 ? 1 : 0;
  }
  EXPECT_GE(within, kRuns * 93 / 100);
}

}  // namespace
}  // namespace plateau
