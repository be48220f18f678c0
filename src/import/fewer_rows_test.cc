// SPDX-License-Identifier: Apache-2.0
#include "import/fewer_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "import/run_builder.h"

namespace plateau {
namespace {

using testing::ElementsAre;
using Column = std::vector<double>;

std::vector<size_t> kept_of(const std::vector<Column>& columns, size_t from, size_t group) {
  std::vector<const Column*> pointers;
  for (const Column& column : columns) pointers.push_back(&column);
  return rows_to_keep(pointers, from, columns.front().size(), group);
}

TEST(FewerRows, TheLowestAndTheHighestOfEachGroupStay) {
  EXPECT_THAT(kept_of({{5, 9, 1, 6, 7, 7, 7, 7}}, 0, 4), ElementsAre(1, 2, 4, 7));
}

TEST(FewerRows, WhatWasThinnedBeforeAndTheLastRowStay) {
  EXPECT_THAT(kept_of({{5, 9, 1, 6, 7, 8, 2, 3, 3}}, 3, 4), ElementsAre(0, 1, 2, 5, 6, 7, 8));
}

TEST(FewerRows, RanksThatWriteInTurnAreThinnedEachByItself) {
  std::vector<Column> ranks(4, Column(4000, kMissing));
  for (size_t row = 0; row < 4000; ++row)
    ranks[row % 4][row] = 100.0 * static_cast<double>(row % 4);
  std::vector<size_t> left(4);
  for (const size_t row : kept_of(ranks, 0, 4)) ++left[row % 4];
  for (const size_t count : left) EXPECT_NEAR(static_cast<double>(count), 500, 2);
}

TEST(FewerRows, RowsOfWhichNoTwoAreAlikeAreHalved) {
  std::vector<Column> columns;
  for (size_t row = 0; row < 100; ++row) columns.emplace_back(Column(100, kMissing))[row] = 1;
  EXPECT_NEAR(static_cast<double>(kept_of(columns, 0, 4).size()), 50, 1);
}

TEST(FewerRows, WhatIsShorterKeepsWhatItHas) {
  std::vector<int> values = {10, 11, 12};
  keep_rows(values, std::vector<size_t>{0, 2, 4, 6});
  EXPECT_THAT(values, ElementsAre(10, 12));
}

// Rows by `rows` steps, with one dip and one peak of a single row and an event in the middle.
Run long_run(size_t rows) {
  RunBuilder builder("test");
  const size_t column = builder.memory_column(builder.process(1, true), Metric::rss, "rss");
  for (size_t i = 0; i < rows; ++i) {
    builder.row({.step = static_cast<int64_t>(i)}, i + 1);
    builder.set_mb(column, i == 1001          ? 9000
                           : i == rows - 4003 ? 3
                                              : 100 + static_cast<double>(i % 7));
    if (i == rows / 2) builder.event(EventKind::eval, "half");
  }
  return builder.finish(rows).at(0);
}

TEST(FewerRows, ALongLogKeepsItsEndsItsPeakAndItsDip) {
  constexpr size_t kRows = 3 * RunBuilder::kMaxRows + 77;
  const auto run = long_run(kRows);
  EXPECT_LE(run.instants.size(), RunBuilder::kMaxRows);
  EXPECT_GT(run.instants.size(), RunBuilder::kMaxRows / 4);
  EXPECT_EQ(run.instants_read, kRows);
  EXPECT_EQ(run.instants.front().step, 0);
  EXPECT_EQ(run.instants.back().step, static_cast<int64_t>(kRows) - 1);
  const Column& mb = run.series[0].mb;
  EXPECT_EQ(*std::max_element(mb.begin(), mb.end()), 9000);
  EXPECT_EQ(*std::min_element(mb.begin(), mb.end()), 3);
  ASSERT_EQ(run.events.size(), 1u);
  EXPECT_NEAR(static_cast<double>(run.instants[run.events[0].instant].step), kRows / 2.0, 40);
}

TEST(FewerRows, DensityIsTheSameFromBeginningToEnd) {
  const auto run = long_run(2 * RunBuilder::kMaxRows + RunBuilder::kMaxRows / 3);
  const auto steps_in = [&run](size_t from, size_t to) {
    return static_cast<double>(run.instants[to].step - run.instants[from].step);
  };
  const size_t rows = run.instants.size();
  EXPECT_NEAR(steps_in(0, rows / 4) / steps_in(3 * (rows / 4), rows - 1), 1, 0.1);
}

TEST(FewerRows, AShortLogIsKeptWhole) {
  const auto run = long_run(5000);
  EXPECT_EQ(run.instants.size(), 5000u);
  EXPECT_EQ(run.instants_read, 0u);
  EXPECT_TRUE(run.notes.empty());
}

}  // namespace
}  // namespace plateau
