// SPDX-License-Identifier: Apache-2.0
#include "session/step_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace plateau {
namespace {

using Kind = StepWords::Kind;

TEST(StepWords, StepHasItsNumberAndEpoch) {
  const auto words = parse_step_words("step 120 epoch=1.45\n");
  ASSERT_TRUE(words);
  EXPECT_EQ(words->kind, Kind::step);
  EXPECT_EQ(words->step, 120);
  EXPECT_DOUBLE_EQ(words->epoch, 1.45);
  EXPECT_EQ(words->pid, -1);
}

TEST(StepWords, StepWithoutEpochLeavesItMissing) {
  const auto words = parse_step_words("step 0");
  ASSERT_TRUE(words);
  EXPECT_EQ(words->step, 0);
  EXPECT_TRUE(std::isnan(words->epoch));
}

TEST(StepWords, RunFactsAreTakenOneByOne) {
  const auto words = parse_step_words("run total_steps=250 examples=663 batch=8 epoch_steps=83");
  ASSERT_TRUE(words);
  EXPECT_EQ(words->kind, Kind::run);
  EXPECT_EQ(words->facts.total_steps->value, 250);
  EXPECT_EQ(words->facts.examples->value, 663);
  EXPECT_EQ(words->facts.batch->value, 8);
  EXPECT_EQ(words->facts.epoch_steps->value, 83);
}

TEST(StepWords, FactThatCannotBeIsLeftOut) {
  const auto words = parse_step_words("run total_steps=-1 examples=nan batch=many epoch_steps=83");
  ASSERT_TRUE(words);
  EXPECT_FALSE(words->facts.total_steps);
  EXPECT_FALSE(words->facts.examples);
  EXPECT_FALSE(words->facts.batch);
  EXPECT_EQ(words->facts.epoch_steps->value, 83);
}

TEST(StepWords, PhasesHaveAName) {
  const auto begin = parse_step_words("begin eval");
  const auto end = parse_step_words("end save");
  ASSERT_TRUE(begin && end);
  EXPECT_EQ(begin->kind, Kind::begin);
  EXPECT_EQ(begin->name, "eval");
  EXPECT_EQ(end->kind, Kind::end);
  EXPECT_EQ(end->name, "save");
}

TEST(StepWords, GaugeHasNameAndValue) {
  const auto words = parse_step_words("gauge tensors.cpu 330");
  ASSERT_TRUE(words);
  EXPECT_EQ(words->kind, Kind::gauge);
  EXPECT_EQ(words->name, "tensors.cpu");
  EXPECT_EQ(words->value, 330);
}

TEST(StepWords, MarkKeepsItsWholeText) {
  const auto words = parse_step_words("mark  learning rate=0.1 lowered ");
  ASSERT_TRUE(words);
  EXPECT_EQ(words->kind, Kind::mark);
  EXPECT_EQ(words->name, "learning rate=0.1 lowered");
}

TEST(StepWords, LastWordPidNamesTheSender) {
  for (const char* line : {"run batch=8 pid=4242", "step 3 pid=4242", "begin eval pid=4242",
                           "end eval pid=4242", "gauge x 1 pid=4242", "mark a b pid=4242"}) {
    const auto words = parse_step_words(line);
    ASSERT_TRUE(words) << line;
    EXPECT_EQ(words->pid, 4242) << line;
  }
  EXPECT_EQ(parse_step_words("mark a b pid=4242")->name, "a b");
}

TEST(StepWords, PidThatNoKernelGivesIsNotOne) {
  EXPECT_EQ(parse_step_words("step 3 pid=0")->pid, -1);
  EXPECT_EQ(parse_step_words("step 3 pid=-7")->pid, -1);
  EXPECT_EQ(parse_step_words("step 3 pid=99999999999")->pid, -1);
}

TEST(StepWords, UnknownKeysAndWordsAreIgnored) {
  const auto step = parse_step_words("step 7 loss=0.3 fast epoch=0.5 rank=2");
  ASSERT_TRUE(step);
  EXPECT_EQ(step->step, 7);
  EXPECT_DOUBLE_EQ(step->epoch, 0.5);
  const auto run = parse_step_words("run world=8");
  ASSERT_TRUE(run);
  EXPECT_FALSE(run->facts.examples);
}

TEST(StepWords, OtherLinesAreNotWords) {
  for (const char* line : {"",
                           " ",
                           "\n",
                           "steps 3",
                           "STEP 3",
                           "step",
                           "step x",
                           "step -1",
                           "step 1.5",
                           "step 99999999999999999999",
                           "begin",
                           "end ",
                           "gauge",
                           "gauge x",
                           "gauge x y",
                           "gauge x nan",
                           "gauge x inf",
                           "mark",
                           "mark ",
                           "{\"step\": 3}",
                           "mark a\x1b[31m",
                           "gauge a\x01z 3",
                           "mark two\nlines"}) {
    EXPECT_FALSE(parse_step_words(line)) << line;
  }
}

TEST(StepWords, AtMostFourKilobytesAreLookedAt) {
  // given: the epoch stands behind the border
  const std::string line = "step 5 " + std::string(4096, ' ') + "epoch=2";
  // when
  const auto words = parse_step_words(line);
  // then
  ASSERT_TRUE(words);
  EXPECT_EQ(words->step, 5);
  EXPECT_TRUE(std::isnan(words->epoch));
  EXPECT_LE(parse_step_words("mark " + std::string(100000, 'x'))->name.size(), 4096U);
}

TEST(StepWords, OtherBytesInAMarkPassThrough) {
  const auto words = parse_step_words("mark \xc3\xa9poque \xff");
  ASSERT_TRUE(words);
  EXPECT_EQ(words->name, "\xc3\xa9poque \xff");
}

TEST(StepWords, WhatOurModuleSaysIsMarkedOnEveryKindOfLine) {
  for (const char* line : {"run batch=8 from=auto", "step 3 epoch=0.5 from=auto",
                           "begin eval from=auto", "gauge x 1 from=auto", "mark a b from=auto",
                           "mark a b pid=7 from=auto", "mark a b from=auto pid=7"}) {
    EXPECT_TRUE(parse_step_words(line)->from_auto) << line;
  }
  EXPECT_EQ(parse_step_words("mark a b pid=7 from=auto")->name, "a b");
  EXPECT_EQ(parse_step_words("mark a b pid=7 from=auto")->pid, 7);
  EXPECT_FALSE(parse_step_words("step 3")->from_auto);
  EXPECT_FALSE(parse_step_words("step 3 from=elsewhere")->from_auto);
  EXPECT_FALSE(parse_step_words("mark from=auto b")->from_auto);
}

TEST(StepWords, FactsMaySayWhereTheyComeFrom) {
  const auto words = parse_step_words("run epoch_steps=83 source=the_DataLoader:_663_/_8 batch=8");
  EXPECT_EQ(words->facts.epoch_steps->source, "the DataLoader: 663 / 8");
  EXPECT_EQ(words->facts.batch->source, "the DataLoader: 663 / 8");
  EXPECT_EQ(parse_step_words("run batch=8")->facts.batch->source, StepWords::kSource);
  EXPECT_EQ(parse_step_words("run batch=8 source=")->facts.batch->source, StepWords::kSource);
}

TEST(StepWords, AnEndlessSourceIsCutOff) {
  const std::string line = "run batch=8 source=" + std::string(3000, 'x');
  EXPECT_EQ(parse_step_words(line)->facts.batch->source.size(), 200U);
}

TEST(StepWords, FactsOfSeveralSourcesAreWrittenAsSeveralLines) {
  StepWords words;
  words.kind = StepWords::Kind::run;
  words.from_auto = true;
  words.facts.batch = Fact{8, "the DataLoader"};
  words.facts.total_steps = Fact{250, std::string(StepWords::kSource)};
  EXPECT_EQ(format_step_words(words),
            "run batch=8 source=the_DataLoader from=auto\nrun total_steps=250 from=auto");
}

}  // namespace
}  // namespace plateau
