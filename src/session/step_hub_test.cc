// SPDX-License-Identifier: Apache-2.0
#include "session/step_hub.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "session/step_socket.h"

namespace plateau {
namespace {

StepWords words_of(std::string_view line) {
  return parse_step_words(line).value();
}

TEST(StepWords, FormattingReadsBackAsTheSameWords) {
  for (const std::string line :
       {"run examples=663 batch=8 total_steps=250", "step 120 epoch=1.45 pid=42", "begin eval",
        "end eval", "gauge tensors.cpu 330 pid=7", "mark after the fix", "subscribe /tmp/a b"}) {
    EXPECT_EQ(format_step_words(words_of(line)), line);
  }
}

TEST(StepWords, ARelativeSubscriptionIsRefused) {
  EXPECT_FALSE(parse_step_words("subscribe steps").has_value());
}

TEST(StepHub, ASubscriberHearsWhatComesAndWhatItMissed) {
  StepHub hub;
  Result<StepSocket> listener = StepSocket::create();
  ASSERT_TRUE(listener.ok());
  hub.words(words_of("run examples=663 batch=8"));
  hub.words(words_of("step 40"));

  hub.words(words_of("subscribe " + listener.value().path()));
  hub.words(words_of("step 41 epoch=0.5"));

  const std::vector<StepWords> heard = listener.value().receive();
  ASSERT_EQ(heard.size(), 3u);
  EXPECT_EQ(heard[0].facts.examples->value, 663);
  EXPECT_EQ(heard[1].step, 40);
  EXPECT_EQ(heard[2].step, 41);
  EXPECT_DOUBLE_EQ(heard[2].epoch, 0.5);
}

TEST(StepHub, ASubscriberThatWentAwayIsForgotten) {
  StepHub hub;
  {
    Result<StepSocket> listener = StepSocket::create();
    ASSERT_TRUE(listener.ok());
    hub.words(words_of("subscribe " + listener.value().path()));
    EXPECT_EQ(hub.subscribers(), 1u);
  }
  hub.words(words_of("step 1"));
  EXPECT_EQ(hub.subscribers(), 0u);
}

TEST(StepHub, OnlyASocketOfTheSenderIsWrittenTo) {
  StepHub hub;
  Result<StepSocket> listener = StepSocket::create();
  ASSERT_TRUE(listener.ok());
  StepWords words = words_of("subscribe " + listener.value().path());
  words.uid = geteuid() + 1;
  hub.words(words);
  EXPECT_EQ(hub.subscribers(), 0u);
  words.uid = geteuid();
  hub.words(words);
  EXPECT_EQ(hub.subscribers(), 1u);
}

TEST(StepHub, ASubscriberThatNeverReadsDoesNotHoldUpTheJob) {
  StepHub hub;
  Result<StepSocket> listener = StepSocket::create();
  ASSERT_TRUE(listener.ok());
  hub.words(words_of("subscribe " + listener.value().path()));
  for (int step = 0; step < 5000; ++step) hub.words(words_of("step " + std::to_string(step)));
  EXPECT_EQ(hub.subscribers(), 1u);
}

}  // namespace
}  // namespace plateau
