// SPDX-License-Identifier: Apache-2.0
#include "session/heap_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>

namespace plateau {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Watched : public testing::Test {
 protected:
  HeapWatch started() {
    KeeperOptions options;
    options.tracer = "/proc/self/exe";  // No process is traced, so any file will do.
    Result<HeapWatch> watch =
        HeapWatch::start(options, [this](const std::string& text) { said.push_back(text); });
    if (!watch) ADD_FAILURE() << watch.error().message;
    return std::move(watch.value());
  }
  std::vector<std::string> said;
  RecordingWriter recording = std::move(RecordingWriter::create("", RecordingHead{}).value());
};

TEST_F(Watched, WithoutOptionsThereIsNothing) {
  Result<HeapWatch> watch = HeapWatch::start(std::nullopt, nullptr);
  ASSERT_TRUE(watch.ok());
  EXPECT_EQ(watch.value().pid(), -1);
  EXPECT_TRUE(watch.value().environment().empty());
  watch.value().step(1);
  watch.value().tick(100, 1, recording);
  watch.value().finish(recording);
  EXPECT_TRUE(recording.run().heaps.empty());
}

TEST_F(Watched, AMissingTracerIsAnError) {
  KeeperOptions options;
  options.tracer = "/nowhere/tracer.so";
  const Result<HeapWatch> watch = HeapWatch::start(options, nullptr);
  ASSERT_FALSE(watch.ok());
  EXPECT_THAT(watch.error().message, HasSubstr("/nowhere/tracer.so"));
}

TEST_F(Watched, SaysThatNothingWasSeen) {
  HeapWatch watch = started();
  EXPECT_GT(watch.pid(), 0);
  EXPECT_EQ(watch.environment().size(), 2U);
  watch.finish(recording);
  EXPECT_TRUE(recording.run().heaps.empty());
  EXPECT_THAT(said, ElementsAre(HasSubstr("no allocation of the job was seen")));
  EXPECT_EQ(watch.pid(), -1) << "the keeper has ended";
}

TEST_F(Watched, SaysOnceThatTheKeeperDied) {
  HeapWatch watch = started();
  kill(watch.pid(), SIGKILL);
  waitpid(watch.pid(), nullptr, 0);
  for (double at_s = 10; at_s < 100; at_s += 10) watch.tick(at_s, 1, recording);
  watch.finish(recording);
  EXPECT_THAT(said, ElementsAre(HasSubstr("has ended")));
}

}  // namespace
}  // namespace plateau
