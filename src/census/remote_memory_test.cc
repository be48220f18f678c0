// SPDX-License-Identifier: Apache-2.0
// Read of this very process: the kernel needs no permission for that.
#include "census/remote_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace plateau {
namespace {

constexpr size_t kPage = 4096;

// Pages of which the i-th is filled with i; some may be taken away.
class Pages {
 public:
  explicit Pages(size_t count) : count_(count) {
    void* raw =
        ::mmap(nullptr, count * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED) std::abort();
    bytes_ = static_cast<unsigned char*>(raw);
    for (size_t i = 0; i < count; ++i) std::memset(bytes_ + i * kPage, static_cast<int>(i), kPage);
  }
  ~Pages() { ::munmap(bytes_, count_ * kPage); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  void take_away(size_t page) { ::munmap(bytes_ + page * kPage, kPage); }
  void fill(size_t page, int with) { std::memset(bytes_ + page * kPage, with, kPage); }
  [[nodiscard]] uint64_t at(size_t page, size_t offset = 0) const {
    return reinterpret_cast<uint64_t>(bytes_ + page * kPage + offset);
  }

 private:
  size_t count_;
  unsigned char* bytes_ = nullptr;
};

int byte_at(RemoteMemory& memory, uint64_t address, bool near) {
  return read_value<unsigned char>(memory, address, near).value_or(255);
}

TEST(RemoteMemory, ReadsAcrossPiecesAsIfTheyWereOne) {
  Pages pages(200);
  RemoteMemory memory(::getpid());
  std::vector<unsigned char> whole(200 * kPage);
  ASSERT_TRUE(memory.read(pages.at(0), whole.data(), whole.size(), true));
  for (size_t i = 0; i < 200; ++i) ASSERT_EQ(whole[i * kPage + 17], i);
}

// Of the memory of `pid`, what it shares with nobody.
long private_kb(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/smaps_rollup");
  for (std::string word; file >> word;) {
    if (word == "Private_Dirty:" && file >> word) return std::stol(word);
  }
  return -1;
}

TEST(RemoteMemory, LookingIntoAForkedProcessGivesItNoPagesOfItsOwn) {
  Pages pages(8192);
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  const long before_kb = private_kb(child);
  RemoteMemory memory(child);
  std::vector<unsigned char> whole(8192 * kPage);
  const bool was_read = memory.read(pages.at(0), whole.data(), whole.size(), true);
  const long after_kb = private_kb(child);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ASSERT_TRUE(was_read);
  ASSERT_GE(before_kb, 0);
  EXPECT_EQ(whole[17 * kPage], 17);
  EXPECT_LT(after_kb - before_kb, 1024) << "of " << 8192 * kPage / 1024 << " kB that were read";
}

TEST(RemoteMemory, HoleIsUnreadableAndItsNeighboursAreNot) {
  Pages pages(100);
  pages.take_away(50);
  RemoteMemory memory(::getpid());
  for (const bool near : {false, true}) {
    EXPECT_EQ(byte_at(memory, pages.at(49, kPage - 1), near), 49);
    EXPECT_FALSE(read_value<unsigned char>(memory, pages.at(50), near).has_value());
    EXPECT_EQ(byte_at(memory, pages.at(51), near), 51);
    EXPECT_FALSE(read_value<uint64_t>(memory, pages.at(49, kPage - 4), near).has_value());
  }
}

TEST(RemoteMemory, WildAddressesAreUnreadable) {
  RemoteMemory memory(::getpid());
  for (const uint64_t wild : {uint64_t{0}, uint64_t{8}, uint64_t{1} << 47, ~uint64_t{0} - 3,
                              uint64_t{0xdeadbeefdeadbeef}}) {
    EXPECT_FALSE(read_value<uint64_t>(memory, wild, true).has_value()) << wild;
    EXPECT_FALSE(read_value<uint64_t>(memory, wild, false).has_value()) << wild;
    memory.expect(wild, 1);
  }
}

TEST(RemoteMemory, WhatIsKeptStaysUntilItIsForgotten) {
  Pages pages(4);
  RemoteMemory memory(::getpid());
  ASSERT_EQ(byte_at(memory, pages.at(1), true), 1);
  pages.fill(1, 77);
  EXPECT_EQ(byte_at(memory, pages.at(1), true), 1);
  memory.forget();
  EXPECT_EQ(byte_at(memory, pages.at(1), true), 77);
}

TEST(RemoteMemory, ClosedItAnswersOnlyFromWhatWasReadOrExpected) {
  Pages near_pages(4);
  Pages other(400);
  RemoteMemory memory(::getpid());
  ASSERT_EQ(byte_at(memory, near_pages.at(1), true), 1);
  memory.expect(other.at(200), 1);
  EXPECT_TRUE(memory.close());
  other.fill(200, 77);

  EXPECT_EQ(byte_at(memory, near_pages.at(1), true), 1);
  EXPECT_EQ(byte_at(memory, other.at(200), true), 200);
  // Further from it than a piece is long.
  EXPECT_FALSE(read_value<unsigned char>(memory, other.at(10), true).has_value());
  EXPECT_FALSE(read_value<unsigned char>(memory, other.at(10), false).has_value());
}

TEST(RemoteMemory, ReservedRoomIsUsedAndMoreIsFound) {
  Pages pages(64 * 300);  // 75 MiB, beyond what is made ready.
  RemoteMemory memory(::getpid());
  memory.reserve(1);
  for (size_t page = 0; page < 64 * 300; page += 64) {
    ASSERT_EQ(byte_at(memory, pages.at(page), true), static_cast<int>(page % 256));
  }
  EXPECT_GE(memory.bytes_read(), uint64_t{64} * 299 * kPage);
}

}  // namespace
}  // namespace plateau
