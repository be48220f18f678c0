// SPDX-License-Identifier: Apache-2.0
#include "push/spool.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/files.h"

namespace plateau::push {
namespace {

class SpoolTest : public testing::Test {
 protected:
  SpoolTest() {
    directory_ = testing::TempDir() + "plateau-spool-XXXXXX";
    EXPECT_NE(mkdtemp(directory_.data()), nullptr);
  }
  ~SpoolTest() override { std::filesystem::remove_all(directory_); }

  Spool open(uint64_t most_bytes = 64 << 20) {
    Result<Spool> spool = Spool::open(directory_, most_bytes);
    EXPECT_TRUE(spool.ok()) << spool.error().message;
    return std::move(spool.value());
  }
  // What is in there, in order.
  static std::vector<int64_t> drained(Spool& spool) {
    std::vector<int64_t> times;
    while (const auto pending = spool.oldest()) {
      times.push_back(pending->frame.at_ms);
      spool.done(*pending);
    }
    return times;
  }
  std::vector<std::string> segments() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_)) {
      if (entry.path().extension() == ".seg") found.push_back(entry.path().string());
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  std::string directory_;
};

Frame frame(int64_t at_ms, size_t size = 100) {
  return {.body = std::string(size, static_cast<char>('a' + at_ms % 26)),
          .samples = 10,
          .at_ms = at_ms};
}

TEST_F(SpoolTest, WhatWasPutInComesOutInOrderAndLeavesNothingBehind) {
  Spool spool = open();
  for (int i = 1; i <= 5; ++i) spool.append(frame(i));
  EXPECT_EQ(spool.waiting_samples(), 50U);
  EXPECT_EQ(drained(spool), (std::vector<int64_t>{1, 2, 3, 4, 5}));
  EXPECT_EQ(spool.waiting_samples(), 0U);
  spool.append(frame(6));
  EXPECT_EQ(drained(spool), (std::vector<int64_t>{6}));
  spool.close();
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
}

TEST_F(SpoolTest, WhatAKilledProcessLeftIsSentByTheNextFromWhereItStopped) {
  const pid_t child = fork();
  if (child == 0) {
    Result<Spool> spool = Spool::open(directory_, 64 << 20);
    for (int i = 1; i <= 9; ++i) spool.value().append(frame(i));
    for (int i = 1; i <= 3; ++i) spool.value().done(*spool.value().oldest());
    kill(getpid(), SIGKILL);
  }
  waitpid(child, nullptr, 0);
  Spool spool = open();
  EXPECT_EQ(spool.waiting_samples(), 60U);
  spool.append(frame(10));
  EXPECT_EQ(drained(spool), (std::vector<int64_t>{4, 5, 6, 7, 8, 9, 10}));
}

TEST_F(SpoolTest, WhatSomebodyStillUsesIsLeftToThem) {
  Spool first = open();
  first.append(frame(1));
  Spool second = open();
  EXPECT_EQ(second.waiting_samples(), 0U);
  first.close();
  second.adopt();
  EXPECT_EQ(drained(second), (std::vector<int64_t>{1}));
}

TEST_F(SpoolTest, TheOldestIsDroppedAndCountedWhenThereIsNoRoom) {
  constexpr uint64_t kMost = uint64_t{1} << 20;
  Spool spool = open(kMost);
  for (int i = 1; i <= 300; ++i) spool.append(frame(i, 10000));
  EXPECT_LE(spool.bytes(), kMost);
  const std::vector<int64_t> left = drained(spool);
  EXPECT_EQ(left.back(), 300);
  EXPECT_GT(left.size(), 60U);
  EXPECT_EQ(spool.dropped_samples(), 10 * (300 - left.size()));
  for (size_t i = 1; i < left.size(); ++i) EXPECT_EQ(left[i], left[i - 1] + 1);
}

TEST_F(SpoolTest, AFrameThatIsDroppedWhileItIsSentIsNoHarm) {
  constexpr uint64_t kMost = uint64_t{600} << 10;
  Spool spool = open(kMost);
  spool.append(frame(1, 10000));
  const auto lent = spool.oldest();
  for (int i = 2; i <= 200; ++i) spool.append(frame(i, 10000));
  spool.done(*lent);
  const std::vector<int64_t> left = drained(spool);
  EXPECT_GT(left.front(), 1);
  EXPECT_EQ(left.back(), 200);
}

TEST_F(SpoolTest, ATornTailCostsTheTornFrameOnly) {
  {
    Spool spool = open();
    for (int i = 1; i <= 3; ++i) spool.append(frame(i));
  }
  const std::string file = segments().at(0);
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 7);
  Spool spool = open();
  EXPECT_EQ(drained(spool), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(spool.damaged_segments(), 1U);
}

TEST_F(SpoolTest, ForeignBytesAreLeftOut) {
  std::filesystem::create_directory(directory_ + "/0000000000001-1");
  std::ofstream(directory_ + "/0000000000001-1/0000000001.seg") << "no segment at all";
  std::ofstream(directory_ + "/0000000000001-1/cursor") << "99999999999999999999 x";
  std::ofstream(directory_ + "/a file") << "x";
  Spool spool = open();
  EXPECT_EQ(drained(spool), (std::vector<int64_t>{}));
  EXPECT_EQ(spool.damaged_segments(), 1U);
}

TEST_F(SpoolTest, ADirectoryThatOthersMayWriteToIsRefused) {
  ASSERT_EQ(chmod(directory_.c_str(), 0777), 0);
  EXPECT_FALSE(Spool::open(directory_, 1 << 20).ok());
}

// A file system of 256 KB, where one can be mounted.
TEST_F(SpoolTest, AFullDiskCostsNothingWhileMemoryHasRoom) {
  const std::string mount = "mount -t tmpfs -o size=256k,mode=0700 none " + directory_;
  if (geteuid() != 0 || std::system((mount + " 2>/dev/null").c_str()) != 0) {
    GTEST_SKIP() << "no file system can be mounted";
  }
  {
    Spool spool = open();
    std::vector<int64_t> wanted;
    for (int i = 1; i <= 100; ++i) {
      spool.append(frame(i, 5000));
      wanted.push_back(i);
    }
    EXPECT_EQ(spool.disk_error(), ENOSPC);
    EXPECT_EQ(spool.waiting_samples(), 1000U);
    EXPECT_EQ(drained(spool), wanted);
    EXPECT_EQ(spool.dropped_samples(), 0U);
    for (int i = 1; i <= 2000; ++i) spool.append(frame(i, 5000));
    EXPECT_GT(spool.dropped_samples(), 0U);
    EXPECT_EQ(spool.waiting_samples() + spool.dropped_samples(), 20000U);
    spool.settle();
    EXPECT_GT(spool.waiting_samples(), 0U);
    EXPECT_EQ(spool.waiting_samples() + spool.dropped_samples(), 20000U);
  }
  EXPECT_EQ(std::system(("umount " + directory_).c_str()), 0);
}

TEST(SpoolName, TellsAddressesAndTenantsApartAndIsAFileName) {
  const std::string name = spool_name("http://h:9090/api/v1/write", "");
  EXPECT_TRUE(name.starts_with("h_9090-")) << name;
  EXPECT_NE(name, spool_name("http://h:9090/api/v1/write", "a"));
  EXPECT_NE(name, spool_name("http://h:9090/api/v2/write", ""));
  EXPECT_EQ(spool_name("http://../../x", "").find('/'), std::string::npos);
}

TEST(SpoolFormat, FramesComeBack) {
  const std::string bytes = segment_head() + frame_bytes({"body", 7, 1700000000123});
  ASSERT_TRUE(is_segment(bytes));
  const auto found = frame_at(bytes, kSegmentHead);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->frame.body, "body");
  EXPECT_EQ(found->frame.samples, 7U);
  EXPECT_EQ(found->frame.at_ms, 1700000000123);
  EXPECT_EQ(found->next, bytes.size());
  EXPECT_FALSE(frame_at(bytes, bytes.size()));
  EXPECT_FALSE(frame_at(bytes, bytes.size() + 1));
}

TEST(SpoolFormat, WorkedBytesOfTheDocumentHold) {
  const std::string bytes =
      segment_head() + frame_bytes({std::string("\x0a\0a\x22\x01\0", 6), 1, 1700000000123});
  const std::string worked(
      "PLTSPOOL\x01\0\0\0\0\0\0\0"
      "\x06\0\0\0\x05\x45\x45\x95\x01\0\0\0\x7b\x68\xe5\xcf\x8b\x01\0\0"
      "\x0a\0a\x22\x01\0",
      42);
  EXPECT_EQ(bytes, worked);
}

TEST(SpoolFormat, EveryChangedByteIsNoticed) {
  const std::string bytes = segment_head() + frame_bytes({"body", 7, 42});
  for (size_t i = kSegmentHead; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(frame_at(changed, kSegmentHead)) << i;
  }
}

TEST(SpoolFormat, CursorsComeBack) {
  const auto cursor = parse_cursor(cursor_bytes({7, 1024}));
  ASSERT_TRUE(cursor);
  EXPECT_EQ(cursor->segment, 7U);
  EXPECT_EQ(cursor->offset, 1024U);
  EXPECT_FALSE(parse_cursor(""));
  EXPECT_FALSE(parse_cursor("7 1024\n"));
  EXPECT_EQ(cursor_bytes({UINT64_MAX, UINT64_MAX}).size(), cursor_bytes({0, 0}).size());
}

}  // namespace
}  // namespace plateau::push
