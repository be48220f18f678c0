// SPDX-License-Identifier: Apache-2.0
#include "trainer/cli/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace plateau::train {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

const Progress kExample{.step = 12,
                        .total_steps = 80,
                        .loss = 3.40871,
                        .steps_per_second = 1.84,
                        .resident_mb = 214.2,
                        .verdict = "plateau"};

TEST(ProgressLine, SaysHowFarHowFastAndHowLarge) {
  EXPECT_EQ(progress_line(kExample, 100),
            "[###.................] 12/80  loss 3.4087  1.8 steps/s  37 s left  214 MB  plateau");
}

TEST(ProgressLine, LeavesOutTheLeastImportantWhereThereIsNoRoom) {
  EXPECT_EQ(progress_line(kExample, 75),
            "[##........] 12/80  loss 3.4087  1.8 steps/s  37 s left  214 MB  plateau");
  EXPECT_EQ(progress_line(kExample, 60),
            "12/80  loss 3.4087  1.8 steps/s  37 s left  214 MB  plateau");
  EXPECT_EQ(progress_line(kExample, 50), "12/80  loss 3.4087  37 s left  214 MB  plateau");
  EXPECT_EQ(progress_line(kExample, 40), "12/80  loss 3.4087  37 s left  214 MB");
  EXPECT_EQ(progress_line(kExample, 30), "12/80  loss 3.4087  214 MB");
  EXPECT_EQ(progress_line(kExample, 10), "12/80  los");
}

TEST(ProgressLine, SlowStepsAreSecondsAStep) {
  Progress slow = kExample;
  slow.steps_per_second = 0.4;
  EXPECT_THAT(progress_line(slow, 100), HasSubstr("2.5 s/step"));
  slow.steps_per_second = 1.0 / 42;
  EXPECT_THAT(progress_line(slow, 100), HasSubstr("42 s/step"));
}

TEST(ProgressLine, BeforeTheFirstStepNoRateIsInvented) {
  Progress first = kExample;
  first.steps_per_second = 0;
  first.verdict.clear();
  EXPECT_THAT(progress_line(first, 100), Not(HasSubstr("left")));
  EXPECT_THAT(progress_line(first, 100), EndsWith("214 MB"));
}

RC_GTEST_PROP(ProgressLine, NeverIsWiderThanTheTerminal, ()) {
  const Progress any{.step = *rc::gen::inRange<int64_t>(0, 2000000),
                     .total_steps = *rc::gen::inRange<int64_t>(0, 1000000),
                     .loss = *rc::gen::inRange(0, 1000000) / 100.0,
                     .steps_per_second = *rc::gen::inRange(0, 100000) / 1000.0,
                     .resident_mb = *rc::gen::inRange(0, 1000000) / 10.0,
                     .verdict = *rc::gen::element<std::string>("", "plateau", "growing", "leak")};
  const size_t width = *rc::gen::inRange<size_t>(1, 200);
  RC_ASSERT(progress_line(any, width).size() <= width);
}

}  // namespace
}  // namespace plateau::train
