// SPDX-License-Identifier: Apache-2.0
#include "heap/keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "heap/keeper_process.h"
#include "heap/testing/fake_tracer.h"

namespace plateau {
namespace {

// Any file stands in for the tracer where no process is traced.
Keeper started(HeapMode mode = HeapMode::sampled) {
  KeeperOptions options;
  options.mode = mode;
  options.tracer = "/proc/self/exe";
  Result<Keeper> keeper = Keeper::start(options);
  if (!keeper) ADD_FAILURE() << keeper.error().message;
  return std::move(keeper.value());
}

TEST(Keeper, TellsTheJobWhereToWrite) {
  const Keeper keeper = started(HeapMode::exact);
  const std::vector<std::string> words = keeper.environment("/lib/other.so");
  ASSERT_EQ(words.size(), 2U);
  EXPECT_THAT(words[0], testing::MatchesRegex("LD_PRELOAD=/.*:/lib/other.so"));
  EXPECT_EQ(words[1], "PLATEAU_HEAP=" + keeper.directory() + ":exact:0");
  EXPECT_THAT(keeper.environment("")[0], testing::Not(testing::HasSubstr(":")));
}

TEST(Keeper, SaysThatTheTracerIsMissing) {
  const Result<Keeper> keeper = Keeper::start({.tracer = "/nowhere/tracer.so"});
  ASSERT_FALSE(keeper.ok());
  EXPECT_THAT(keeper.error().message, testing::HasSubstr("/nowhere/tracer.so"));
}

TEST(Keeper, ReadsASegmentAndAnswersWithTracks) {
  Keeper keeper = started();
  FakeTracer tracer(keeper.directory(), getpid());
  tracer.put(2, stack_words(5, {0x1234}));
  for (uint64_t i = 1; i <= 1000; ++i) tracer.put(2, alloc_record(i * 16, 10, 5, i));
  keeper.row(0.5, 1);
  const Result<std::vector<HeapTrack>> tracks = keeper.tracks();
  ASSERT_TRUE(tracks.ok()) << tracks.error().message;
  ASSERT_EQ(tracks.value().size(), 1U);
  const HeapTrack& track = tracks.value()[0];
  EXPECT_EQ(track.pid, getpid());
  ASSERT_EQ(track.sites.size(), 1U);
  EXPECT_EQ(track.sites[0].allocated_bytes, 10000);
  EXPECT_EQ(keeper.counts().segments_seen, 1U);
}

TEST(Keeper, EventsAreInTheStepThatWasToldBefore) {
  Keeper keeper = started();
  FakeTracer tracer(keeper.directory(), getpid());
  tracer.put(0, stack_words(5, {0x1234}));
  keeper.step(10);
  tracer.put(0, alloc_record(16, 10, 5, trace::trace_stamp()));
  keeper.step(11);  // Too soon after the first: told later, with its own stamp.
  keeper.step(14);
  tracer.put(0, alloc_record(32, 10, 5, trace::trace_stamp()));
  tracer.put(0, free_record(16, trace::trace_stamp()));
  const Result<std::vector<HeapTrack>> tracks = keeper.tracks();
  ASSERT_TRUE(tracks.ok()) << tracks.error().message;
  const HeapSite& site = tracks.value().at(0).sites.at(0);
  EXPECT_EQ(site.first_step, 10);
  EXPECT_EQ(site.freed_age[3], 1) << "4 steps are in [4, 8)";
}

TEST(Keeper, LargeTracksComeWhole) {
  Keeper keeper = started(HeapMode::exact);
  FakeTracer tracer(keeper.directory(), getpid());
  // Frames that do not compress: several pieces on the wire.
  uint64_t mixed = 1;
  uint64_t sent = 0;
  while (sent < 1000) {
    std::vector<uint64_t> frames(100);
    for (uint64_t& frame : frames) frame = (mixed *= 0x9E3779B97F4A7C15U) >> 8;
    if (!tracer.put(sent % 4, stack_words(sent + 1, frames))) continue;
    while (!tracer.put(sent % 4, alloc_record((sent + 1) * 16, 10, sent + 1, 1))) {
    }
    ++sent;
  }
  const Result<std::vector<Keeper::EncodedTrack>> encoded = keeper.encoded_tracks();
  ASSERT_TRUE(encoded.ok()) << encoded.error().message;
  EXPECT_GT(encoded.value().at(0).bytes.size(), 200000U);
  const Result<HeapTrack> track = decode_heap_track(encoded.value()[0].bytes);
  ASSERT_TRUE(track.ok());
  EXPECT_EQ(track.value().sites.size(), 1000U);
}

// Its own look into the directory of segments must not wake it for another one.
TEST(Keeper, SleepsWhileNothingComes) {
  Keeper keeper = started();
  ASSERT_TRUE(keeper.tracks().ok());  // It has scanned, and is about to sleep.
  const auto reads = [&keeper] {
    std::ifstream file("/proc/" + std::to_string(keeper.pid()) + "/io");
    std::string name;
    long count = -1;
    while (file >> name >> count && name != "syscr:") {
    }
    return count;
  };
  const long before = reads();
  ASSERT_GE(before, 0);
  usleep(500'000);
  EXPECT_LT(reads() - before, 50);
}

TEST(Keeper, SignalsOfATerminalDoNotEndIt) {
  Keeper keeper = started();
  EXPECT_EQ(getpgid(keeper.pid()), keeper.pid());
  ASSERT_TRUE(keeper.tracks().ok());
  for (const int number : {SIGINT, SIGQUIT, SIGHUP, SIGTERM, SIGTSTP}) kill(keeper.pid(), number);
  EXPECT_TRUE(keeper.tracks().ok());
}

TEST(Keeper, ItsDeathIsAnErrorAndNotAHang) {
  Keeper keeper = started();
  kill(keeper.pid(), SIGKILL);
  waitpid(keeper.pid(), nullptr, 0);
  keeper.step(1);
  keeper.row(1, 1);
  const Result<std::vector<HeapTrack>> tracks = keeper.tracks();
  ASSERT_FALSE(tracks.ok());
  EXPECT_THAT(tracks.error().message, testing::HasSubstr("has ended"));
}

TEST(Keeper, LeavesNoDirectoryAndNoProcess) {
  std::string directory;
  pid_t pid = -1;
  {
    const Keeper keeper = started();
    directory = keeper.directory();
    pid = keeper.pid();
    std::ofstream(directory + "/9-9.segment.tmp") << "of a process that was killed";
    EXPECT_TRUE(std::filesystem::is_directory(directory));
  }
  EXPECT_FALSE(std::filesystem::exists(directory));
  EXPECT_NE(kill(pid, 0), 0);
}

TEST(Keeper, EndsAndCleansUpWhenItsOwnerIsKilled) {
  // Given an owner that is killed
  int ends[2] = {-1, -1};
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const pid_t owner = fork();
  if (owner == 0) {
    const Keeper keeper = started();
    const std::string& path = keeper.directory();
    [[maybe_unused]] const ssize_t n = write(ends[1], path.data(), path.size());
    pause();
    _exit(0);
  }
  std::string path(4096, '\0');
  const ssize_t n = read(ends[0], path.data(), path.size());
  ASSERT_GT(n, 0);
  path.resize(static_cast<size_t>(n));
  kill(owner, SIGKILL);
  waitpid(owner, nullptr, 0);
  // Then the directory goes, within any time that a loaded machine may take
  bool there = true;
  for (int i = 0; i < 2000 && there; ++i) {
    there = std::filesystem::exists(path);
    usleep(10000);
  }
  EXPECT_FALSE(there);
  close(ends[0]);
  close(ends[1]);
}

TEST(KeeperPace, SleepsLongWhenNothingHappensAndWakesUpUnderLoad) {
  KeeperPace sampled(false);
  for (int i = 0; i < 20; ++i) sampled.next_ms(0);
  EXPECT_EQ(sampled.next_ms(0), 250);
  EXPECT_LE(sampled.next_ms(0.01), 20);
  for (int i = 0; i < 20; ++i) sampled.next_ms(0.9);
  EXPECT_EQ(sampled.next_ms(0.9), 0);
  EXPECT_GE(sampled.next_ms(0.4), 1);
  KeeperPace exact(true);
  for (int i = 0; i < 20; ++i) exact.next_ms(0);
  EXPECT_EQ(exact.next_ms(0), 4);
}

}  // namespace
}  // namespace plateau
