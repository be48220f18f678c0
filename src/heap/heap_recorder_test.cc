// SPDX-License-Identifier: Apache-2.0
#include "heap/heap_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>

#include "base/testing/scratch_directory.h"
#include "heap/testing/fake_tracer.h"

namespace plateau {
namespace {

class Recorded : public testing::Test {
 protected:
  static void round(HeapRecorder& recorder) {
    recorder.scan();
    recorder.look(true);
    recorder.read();
  }
  static void leak(FakeTracer& tracer, uint64_t blocks) {
    tracer.put(0, stack_words(1, {0x1111, 0x2222}));
    for (uint64_t i = 1; i <= blocks; ++i) tracer.put(0, alloc_record(i * 16, 100, 1, i));
  }
  HeapTrack decoded(HeapRecorder& recorder, int64_t pid) {
    Result<HeapTrack> track = decode_heap_track(recorder.encoded_track(pid));
    EXPECT_TRUE(track.ok());
    return track.ok() ? track.value() : HeapTrack{};
  }
  // A pid that nobody has.
  static pid_t dead_pid() {
    const pid_t pid = fork();
    if (pid == 0) _exit(0);
    waitpid(pid, nullptr, 0);
    return pid;
  }

  ScratchDirectory scratch;
  std::string directory = scratch.path();
};

TEST_F(Recorded, ProcessBecomesATrack) {
  HeapRecorder recorder(directory);
  FakeTracer tracer(directory, getpid());
  leak(tracer, 50);
  tracer.header().account.allocator.store(static_cast<uint32_t>(trace::AllocatorKind::glibc));
  tracer.header().dropped_frees.store(3);
  round(recorder);
  EXPECT_FALSE(std::filesystem::exists(tracer.path())) << "unlinked once it is mapped";
  recorder.row(1.5, 7);
  // The allocator is asked at the start and with each row that has an answer.
  EXPECT_EQ(tracer.header().account.asked.load(), 1U);
  tracer.header().account.in_use.store(5000);
  tracer.header().account.free.store(UINT64_MAX);
  tracer.header().account.answered.store(1);
  recorder.row(2.5, 8);
  EXPECT_EQ(tracer.header().account.asked.load(), 2U);

  const HeapTrack track = decoded(recorder, getpid());
  EXPECT_EQ(track.pid, getpid());
  EXPECT_TRUE(track.exact);
  EXPECT_EQ(track.allocator, "glibc");
  EXPECT_EQ(track.dropped_frees, 3U);
  ASSERT_EQ(track.rows.size(), 2U);
  EXPECT_EQ(track.rows[0].allocator_in_use, -1);
  EXPECT_EQ(track.rows[1].step, 8);
  EXPECT_EQ(track.rows[1].allocator_in_use, 5000);
  EXPECT_EQ(track.rows[1].allocator_free, -1);
  ASSERT_EQ(track.sites.size(), 1U);
  EXPECT_EQ(track.sites[0].allocated_bytes, 5000);
}

TEST_F(Recorded, TrackOfAnEndedProcessStays) {
  HeapRecorder recorder(directory);
  const pid_t pid = dead_pid();
  FakeTracer tracer(directory, pid);
  leak(tracer, 10);
  round(recorder);
  EXPECT_EQ(recorder.living(), 0U);
  const HeapTrack track = decoded(recorder, pid);
  ASSERT_EQ(track.sites.size(), 1U);
  EXPECT_EQ(track.sites[0].allocated_bytes, 1000);
  ASSERT_FALSE(track.rows.empty()) << "it never met a row, so its end is one";
  EXPECT_EQ(track.rows.back().cells[0].live_bytes, 1000);
}

TEST_F(Recorded, ExecStartsANewTrack) {
  HeapRecorder recorder(directory);
  FakeTracer before(directory, getpid(), 1);
  leak(before, 10);
  round(recorder);
  FakeTracer after(directory, getpid(), 2);
  leak(after, 3);
  round(recorder);
  EXPECT_THAT(recorder.pids(), testing::ElementsAre(getpid()));
  EXPECT_EQ(decoded(recorder, getpid()).sites[0].allocated_bytes, 300);
}

TEST_F(Recorded, ManyProcessesLeaveTheLargestTracks) {
  HeapRecorder recorder(directory);
  constexpr int kMore = 5;
  constexpr int kFirst = 1 << 22;  // No process has such a pid: beyond the kernel's limit.
  for (int i = 1; i <= static_cast<int>(HeapRecorder::kMaxTracks) + kMore; ++i) {
    FakeTracer tracer(directory, kFirst + i);
    leak(tracer, static_cast<uint64_t>(i));
    round(recorder);
  }
  EXPECT_EQ(recorder.pids().size(), HeapRecorder::kMaxTracks);
  EXPECT_EQ(recorder.counts().forgotten, static_cast<size_t>(kMore));
  EXPECT_EQ(recorder.encoded_track(kFirst + kMore), "");
  EXPECT_NE(recorder.encoded_track(kFirst + kMore + 1), "");
  FakeTracer small(directory, kFirst);
  leak(small, 1);
  round(recorder);
  EXPECT_EQ(recorder.counts().forgotten, static_cast<size_t>(kMore + 1));
  EXPECT_EQ(recorder.encoded_track(kFirst), "") << "smaller than all that are kept";
  EXPECT_EQ(recorder.pids().size(), HeapRecorder::kMaxTracks);
}

TEST_F(Recorded, GarbageInTheDirectoryIsRemovedAndCounted) {
  HeapRecorder recorder(directory);
  std::ofstream(directory + "/77-1.segment") << "no segment";
  std::ofstream(directory + "/notes.txt") << "not ours";
  recorder.scan();
  EXPECT_EQ(recorder.refused(), 1U);
  EXPECT_FALSE(std::filesystem::exists(directory + "/77-1.segment"));
  EXPECT_TRUE(std::filesystem::exists(directory + "/notes.txt"));
}

}  // namespace
}  // namespace plateau
