// SPDX-License-Identifier: Apache-2.0
#include "recording/run_frame.h"

#include <gtest/gtest.h>

namespace plateau {
namespace {

TEST(RunFrame, HasWhatTheRunSaysOfItselfAndNothingMeasured) {
  plateau::Run run;
  run.source = "train.log";
  run.host = "node3";
  run.epoch_time = true;
  run.instants = {{.step = 7}};
  run.processes.resize(2);
  run.series.resize(3);
  const plateau::Run frame = frame_of(run);
  EXPECT_EQ(frame.source, "train.log");
  EXPECT_EQ(frame.host, "node3");
  EXPECT_TRUE(frame.epoch_time);
  ASSERT_EQ(frame.instants.size(), 1U);
  EXPECT_EQ(frame.instants[0].step, 7);
  EXPECT_TRUE(frame.processes.empty());
  EXPECT_TRUE(frame.series.empty());
}

}  // namespace
}  // namespace plateau
