// SPDX-License-Identifier: Apache-2.0
#include "probe/jvm_heap.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/testing/scratch_directory.h"
#include "probe/sampler.h"
#include "probe/testing/live_process.h"

namespace plateau {
namespace {

namespace fs = std::filesystem;

void put(std::string& bytes, auto number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

// An entry as HotSpot writes it: head, name, value.
std::string entry(const std::string& name, int64_t value) {
  constexpr int32_t kHead = 20;
  std::string padded = name + '\0';
  while (padded.size() % 8 != 4) padded.push_back('\0');
  const auto data_at = static_cast<int32_t>(kHead + padded.size());
  std::string bytes;
  put(bytes, data_at + 8);
  put(bytes, kHead);
  put(bytes, int32_t{0});
  bytes.append("J\x01\x01\x01", 4);
  put(bytes, data_at);
  bytes += padded;
  put(bytes, value);
  return bytes;
}

using Counter = std::pair<std::string, int64_t>;

std::string counters_file(const std::vector<Counter>& counters) {
  std::string entries;
  for (const auto& [name, value] : counters) entries += entry(name, value);
  std::string bytes("\xca\xfe\xc0\xc0\x01\x02\x00\x01", 8);
  put(bytes, static_cast<int32_t>(32 + entries.size()));
  put(bytes, int32_t{0});
  put(bytes, int64_t{0});
  put(bytes, int32_t{32});
  put(bytes, static_cast<int32_t>(counters.size()));
  return bytes + entries;
}

constexpr int64_t kMb = int64_t{1} << 20;

std::string heap_file(int64_t used_mb, int64_t young, int64_t old) {
  return counters_file({{"java.threads.live", 17},
                        {"sun.gc.generation.1.maxCapacity", 400 * kMb},
                        {"sun.gc.generation.1.space.0.used", used_mb * kMb},
                        {"sun.gc.collector.0.invocations", young},
                        {"sun.gc.collector.1.invocations", 0},
                        {"sun.gc.collector.2.invocations", old}});
}

TEST(JvmCounters, TheOldGenerationAndItsCollectionsAreRead) {
  const auto read = parse_jvm_counters(heap_file(185, 12, 4));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->old_used_kb, 185 * 1024);
  EXPECT_EQ(read->old_most_kb, 400 * 1024);
  EXPECT_EQ(read->young_collections, 12);
  EXPECT_EQ(read->old_collections, 4);
}

TEST(JvmCounters, AFileWithoutAnOldGenerationTellsNothing) {
  EXPECT_FALSE(parse_jvm_counters(counters_file({{"java.threads.live", 17}})));
  EXPECT_FALSE(parse_jvm_counters(""));
  EXPECT_FALSE(parse_jvm_counters(std::string(40000, '\0')));
}

TEST(JvmCounters, AFileThatIsStillBeingMadeTellsNothing) {
  std::string bytes = heap_file(185, 12, 4);
  bytes[7] = 0;
  EXPECT_FALSE(parse_jvm_counters(bytes));
}

TEST(JvmCounters, NegativeAndImpossibleAmountsAreNotTaken) {
  EXPECT_FALSE(parse_jvm_counters(counters_file({{"sun.gc.generation.1.space.0.used", -1}})));
  EXPECT_FALSE(
      parse_jvm_counters(counters_file({{"sun.gc.generation.1.space.0.used", INT64_MAX}})));
}

TEST(JvmCounters, EveryTruncationAndEveryWrongByteIsSurvived) {
  const std::string whole = heap_file(185, 12, 4);
  for (size_t length = 0; length < whole.size(); ++length) {
    parse_jvm_counters(whole.substr(0, length));
  }
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const char byte : {'\x00', '\x7f', '\xff'}) {
      std::string wrong = whole;
      wrong[at] = byte;
      const auto read = parse_jvm_counters(wrong);
      EXPECT_GE(read ? read->old_used_kb : 0, 0);
    }
  }
}

TEST(JvmCountersPath, IsThatOfTheMapping) {
  EXPECT_EQ(jvm_counters_path("7f00-7f08 r--p 00000000 08:01 11 /usr/lib/libjvm.so\n"
                              "7f10-7f18 rw-s 00000000 00:2c 12 /tmp/hsperfdata_me/4711\n"),
            "/tmp/hsperfdata_me/4711");
  EXPECT_EQ(jvm_counters_path("7f10-7f18 rw-s 00000000 00:2c 12 /tmp/hsperfdata_me/1 (deleted)\n"),
            "");
  EXPECT_EQ(jvm_counters_path(""), "");
}

JvmCounters counted(int64_t used_mb, int64_t young, int64_t old) {
  return {.old_used_kb = used_mb * 1024, .young_collections = young, .old_collections = old};
}

TEST(JvmHeapFloor, WhatOneWholeStretchBetweenCollectionsNeverFellBelowIsKept) {
  JvmHeapFloor floor;
  floor.take(counted(40, 3, 0));
  floor.take(counted(200, 5, 0));
  floor.take(counted(90, 6, 1));  // How long the stretch before had been going on, nobody saw.
  EXPECT_EQ(floor.collections(), 0);
  floor.take(counted(31, 7, 1));
  floor.take(counted(150, 9, 1));
  EXPECT_EQ(floor.collections(), 0);
  floor.take(counted(80, 10, 2));
  EXPECT_EQ(floor.collections(), 1);
  EXPECT_EQ(floor.kept_kb(), 31 * 1024);
}

TEST(JvmHeapFloor, TwoPausesOfOneCycleAreOneCollection) {
  JvmHeapFloor floor;
  floor.take(counted(40, 3, 0));
  floor.take(counted(200, 5, 2));
  floor.take(counted(60, 8, 3));  // Remark,
  floor.take(counted(58, 8, 4));  // and Cleanup, with no young collection between.
  EXPECT_EQ(floor.collections(), 1);
}

TEST(JvmHeapFloor, GarbageIsNoGrowthAndWhatIsKeptIs) {
  for (const int64_t kept_per_cycle : {0, 5}) {
    JvmHeapFloor floor;
    std::vector<int64_t> kept;
    for (int64_t cycle = 0; cycle < 8; ++cycle) {
      for (int64_t look = 0; look < 10; ++look) {
        floor.take(counted(60 + kept_per_cycle * cycle + 15 * look, 10 * cycle + look, cycle));
        if (floor.collections() > 0) kept.push_back(floor.kept_kb());
      }
    }
    ASSERT_FALSE(kept.empty());
    EXPECT_EQ(kept.back() - kept.front(), kept_per_cycle * 1024 * 5);
  }
}

// A process that says it is a JVM, with its counters at `path`.
class FakeJvm {
 public:
  explicit FakeJvm(const fs::path& path)
      : process_([&path](Signal& ready) {
          prctl(PR_SET_NAME, "java");
          const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
          if (fd < 0 || mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED) _exit(1);
          ready.raise();
          pause();
        }) {}
  [[nodiscard]] pid_t pid() const { return process_.pid(); }

 private:
  LiveProcess process_;
};

class JvmOfATree : public testing::Test {
 protected:
  JvmOfATree() : directory_(scratch_.path() / "hsperfdata_me"), file_(directory_ / "1") {
    fs::create_directory(directory_);
    write(heap_file(40, 1, 0));
  }

  void write(const std::string& bytes) const {
    const Fd fd(open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_EQ(pwrite(fd.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }

  static ProbeOptions options() {
    ProbeOptions options;
    options.nvml = "";
    options.follow_orphans = false;
    return options;
  }

  ScratchDirectory scratch_;
  fs::path directory_;
  fs::path file_;
};

TEST_F(JvmOfATree, WhatItsCollectionsLeaveIsAFigureOfItsProcess) {
  const FakeJvm jvm(file_);
  auto sampler = Sampler::of_pid(jvm.pid(), options(), true);
  ASSERT_TRUE(sampler.ok());
  Snapshot snapshot = sampler.value().sample(0);
  ASSERT_EQ(snapshot.processes.size(), 1U);
  EXPECT_EQ(snapshot.processes[0].java_heap_kb, kUnread);
  const std::vector<std::pair<int64_t, int64_t>> used_and_old = {{120, 1}, {33, 1}, {140, 2}};
  double now_s = 1;
  for (const auto& [used_mb, old] : used_and_old) {
    write(heap_file(used_mb, static_cast<int64_t>(10 * now_s), old));
    snapshot = sampler.value().sample(now_s++);
  }
  ASSERT_EQ(snapshot.processes.size(), 1U);
  EXPECT_EQ(snapshot.processes[0].java_heap_kb, 33 * 1024);
  EXPECT_EQ(snapshot.processes[0].java_collections, 1);
  EXPECT_EQ(snapshot.processes[0].java_limit_kb, 400 * 1024);
}

TEST_F(JvmOfATree, AFileOfAnotherUserThatItMapsIsNotRead) {
  const FakeJvm jvm(file_);
  constexpr uid_t kNobody = 65534;
  if (chown(file_.c_str(), kNobody, kNobody) != 0) GTEST_SKIP() << "needs root to give a file away";
  JvmWatch watch;
  const Fd proc(open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  watch.look(PidDir(proc.get(), jvm.pid(), true), 0);
  EXPECT_FALSE(watch.present());
}

TEST_F(JvmOfATree, ItIsLookedForEverLessOftenWhereThereIsNone) {
  JvmWatch watch;
  const Fd proc(open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const PidDir self(proc.get(), getpid(), true);
  std::vector<double> looked_s;
  for (double now_s = 0; now_s < 1000; now_s += 0.5) {
    if (!watch.due(now_s)) continue;
    watch.look(self, now_s);
    looked_s.push_back(now_s);
  }
  EXPECT_THAT(looked_s, testing::ElementsAre(0, 0.5, 2.5, 10.5, 42.5));
}

}  // namespace
}  // namespace plateau
