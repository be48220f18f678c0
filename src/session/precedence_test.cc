// SPDX-License-Identifier: Apache-2.0
#include "session/precedence.h"

#include <gtest/gtest.h>

namespace plateau {
namespace {

const auto kAllLive = [](pid_t) { return true; };
const auto kNoneLives = [](pid_t) { return false; };

StepWords words(std::string_view line) {
  return parse_step_words(line).value();
}

TEST(Precedence, StepsOfTheModuleCountUntilTheUsersCodeSaysSteps) {
  Precedence who;
  EXPECT_EQ(who.admit(words("step 5 from=auto pid=7"), -1, kAllLive)->step, 5);
  EXPECT_EQ(who.admit(words("step 6 pid=7"), 5, kAllLive)->step, 6);
  EXPECT_FALSE(who.admit(words("step 7 from=auto pid=7"), 6, kAllLive));
}

TEST(Precedence, AFactIsTheUsersOnceTheyHaveSaidItAndNoOtherFactIs) {
  Precedence who;
  who.admit(words("run batch=16"), -1, kAllLive);
  const auto taken = who.admit(words("run batch=8 epoch_steps=83 from=auto"), -1, kAllLive);
  EXPECT_FALSE(taken->facts.batch);
  EXPECT_EQ(taken->facts.epoch_steps->value, 83);
}

TEST(Precedence, WhatTheCommandLineSaysOutranksTheModule) {
  Precedence who;
  who.user_said(&Context::examples);
  EXPECT_FALSE(who.admit(words("run examples=663 from=auto"), -1, kAllLive)->facts.examples);
}

TEST(Precedence, EventsThatTheUserMarksAreNotMarkedTwice) {
  Precedence who;
  who.admit(words("begin eval"), 1, kAllLive);
  EXPECT_FALSE(who.admit(words("mark eval from=auto"), 1, kAllLive));
  EXPECT_FALSE(who.admit(words("end eval from=auto"), 1, kAllLive));
  EXPECT_TRUE(who.admit(words("mark checkpoint from=auto"), 1, kAllLive));
  EXPECT_TRUE(who.admit(words("mark anything else from=auto"), 1, kAllLive));
}

TEST(Precedence, OfTwoThatTrainAtOnceTheFirstIsTheClock) {
  Precedence who;
  EXPECT_TRUE(who.admit(words("step 5 from=auto pid=7"), -1, kAllLive));
  EXPECT_FALSE(who.admit(words("step 900 from=auto pid=8"), 5, kAllLive));
}

TEST(Precedence, OneThatFollowsCountsOn) {
  Precedence who;
  EXPECT_TRUE(who.admit(words("step 100 from=auto pid=7"), 99, kAllLive));
  EXPECT_EQ(who.admit(words("step 1 from=auto pid=8"), 100, kNoneLives)->step, 101);
  EXPECT_EQ(who.admit(words("step 2 from=auto pid=8"), 101, kNoneLives)->step, 102);
}

TEST(Precedence, AResumedCountIsNotMoved) {
  Precedence who;
  EXPECT_TRUE(who.admit(words("step 100 from=auto pid=7"), 99, kAllLive));
  EXPECT_EQ(who.admit(words("step 96 from=auto pid=8"), 100, kNoneLives)->step, 96);
}

TEST(Precedence, TheOutputIsNotAskedWhileTheModuleMayStillSpeak) {
  Precedence who;
  EXPECT_FALSE(who.waits_for_module(1));
  who.module_is_in(10);
  EXPECT_TRUE(who.waits_for_module(20));
  who.module_is_in(300);
  EXPECT_FALSE(who.waits_for_module(311));
}

}  // namespace
}  // namespace plateau
