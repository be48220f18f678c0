// SPDX-License-Identifier: Apache-2.0
// The ledger of a process of which every megabyte is known (tests/stand_in/ledger_subject.cc).
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>

#include "base/fd.h"
#include "ledger/ledger.h"

namespace plateau {
namespace {

// Runs the program until this goes.
class Subject {
 public:
  Subject() {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0) return;
    to_.reset(in[1]);
    from_.reset(out[0]);
    const Fd child_in(in[0]);
    const Fd child_out(out[1]);
    const std::string directory = testing::TempDir();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(child_in.get(), 0);
      ::dup2(child_out.get(), 1);
      ::execl(PLATEAU_LEDGER_SUBJECT, "ledger_subject", directory.c_str(), nullptr);
      ::_exit(127);
    }
  }
  ~Subject() {
    to_.reset();
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  }
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

  // Waits for its word; false if it ended without one.
  bool answer(LedgerAllocator& allocator) {
    std::string line;
    char c = 0;
    while (::read(from_.get(), &c, 1) == 1 && c != '\n') line.push_back(c);
    size_t in_use = 0;
    size_t free = 0;
    size_t system = 0;
    if (std::sscanf(line.c_str(), "%zu %zu %zu", &in_use, &free, &system) != 3) return false;
    allocator = {.name = "glibc", .in_use = in_use, .free = free, .system = system};
    return true;
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  Fd to_;
  Fd from_;
  pid_t pid_ = -1;
};

double line_mb(const Ledger& ledger, std::string_view name) {
  for (const LedgerLine& line : ledger.lines) {
    if (line.name == name) return line.mb;
  }
  return -1;
}

// Tolerances: a block's header and rounding (16 of 50,000 bytes), the runtime's own 75 kB of heap,
// libraries in `files`, and what a thread uses of its stack besides.
void expect_known_parts(const Ledger& ledger) {
  EXPECT_NEAR(line_mb(ledger, "allocator-held"), 100, 2);
  EXPECT_GT(line_mb(ledger, "files"), 30);
  EXPECT_LT(line_mb(ledger, "files"), 36);
  EXPECT_NEAR(line_mb(ledger, "shared"), 20, 0.1);
  EXPECT_GT(line_mb(ledger, "thread-stacks"), 8);
  EXPECT_LT(line_mb(ledger, "thread-stacks"), 9);
  EXPECT_LT(ledger.rest_mb, 2);
}

TEST(LedgerOfARealProcess, FindsWhatThatProcessIsKnownToHold) {
  Subject subject;
  LedgerAllocator allocator;
  ASSERT_TRUE(subject.answer(allocator));

  const auto resident = read_resident(subject.pid());

  ASSERT_TRUE(resident.ok()) << resident.error().message;
  const Ledger ledger = make_ledger(resident.value(), nullptr, &allocator);
  EXPECT_NEAR(line_mb(ledger, "live-heap"), 100, 1);
  expect_known_parts(ledger);
}

// As the tracer would tell it: the blocks as they were asked for.
TEST(LedgerOfARealProcess, TellsBlocksFromTheAllocatorsOverhead) {
  Subject subject;
  LedgerAllocator allocator;
  ASSERT_TRUE(subject.answer(allocator));
  HeapTrack track;
  track.exact = true;
  track.stacks.resize(1);
  track.sites.resize(1);
  track.rows.resize(1);
  track.rows[0].cells = {{.site = 0, .live_bytes = 100e6, .live_blocks = 2000}};

  const auto resident = read_resident(subject.pid());

  ASSERT_TRUE(resident.ok()) << resident.error().message;
  const Ledger ledger = make_ledger(resident.value(), &track, &allocator);
  EXPECT_EQ(line_mb(ledger, "live-heap"), 100);
  EXPECT_LT(line_mb(ledger, "allocator-overhead"), 1);
  expect_known_parts(ledger);
}

}  // namespace
}  // namespace plateau
