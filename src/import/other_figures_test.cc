// SPDX-License-Identifier: Apache-2.0
// Figures that could be the memory instead of the one that was taken for it are kept beside it.
#include "recording/other_figures.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "import/import.h"

namespace plateau {
namespace {

constexpr int kLines = 60;

// The names of the other figures of a log whose line i is line(i), and their last values.
template <typename Line>
std::vector<std::pair<std::string, double>> others_of(Line line) {
  std::string log;
  for (int i = 0; i < kLines; ++i) log += line(i) + "\n";
  const auto runs = import_bytes("log", log);
  std::vector<std::pair<std::string, double>> out;
  if (!runs.ok() || runs.value().size() != 1) return out;
  for (const Gauge& gauge : runs.value().front().gauges) {
    if (!gauge.name.starts_with(kOtherFigure)) continue;
    out.emplace_back(gauge.name.substr(kOtherFigure.size()), gauge.value.back());
  }
  return out;
}

TEST(OtherFigures, AHeapBesideTheMemoryOfAProcessIsKept) {
  const auto others = others_of([](int i) {
    return fmt::format("step {}: rss {} MB, heap used {} MB", i, 900 + i % 3, 200 + i);
  });
  ASSERT_EQ(others.size(), 1U);
  EXPECT_NEAR(others.front().second, 200 + kLines - 1, 0.5);
}

TEST(OtherFigures, WhatGrowsBeyondTheResidentMemoryIsNoLevel) {
  EXPECT_TRUE(others_of([](int i) {
                return fmt::format("step {}: rss {} MB, allocated {} MB", i, 900 + i % 3, 90 * i);
              }).empty());
}

TEST(OtherFigures, PeaksLimitsAndWhatIsFreeAreNone) {
  EXPECT_TRUE(others_of([](int i) {
                return fmt::format("step {}: rss {} MB, peak memory {} MB, free memory {} MB", i,
                                   900 + i % 3, 500 + i, 400 + i);
              }).empty());
}

}  // namespace
}  // namespace plateau
