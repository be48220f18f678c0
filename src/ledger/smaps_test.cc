// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <sstream>

#include "ledger/ledger.h"

#include "base/files.h"

namespace plateau {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Capture {
  std::string smaps;
  std::vector<uint64_t> stacks;
  std::map<std::string, uint64_t> status;  // Bytes.
};

Capture capture(const std::string& name) {
  const auto base = std::filesystem::path(PLATEAU_SOURCE_DIR) / "tests/fixtures/smaps" / name;
  Capture found;
  found.smaps = text_of_file(base.string() + ".smaps");
  std::istringstream stacks(text_of_file(base.string() + ".stacks"));
  for (std::string word; stacks >> word;) found.stacks.push_back(std::stoull(word, nullptr, 16));
  std::istringstream status(text_of_file(base.string() + ".status"));
  for (std::string line; std::getline(status, line);) {
    const size_t colon = line.find(':');
    found.status[line.substr(0, colon)] = std::stoull(line.substr(colon + 1)) * 1024;
  }
  return found;
}

uint64_t sum(const ResidentByMapping& r) {
  return r.heap + r.anonymous + r.stacks + r.file + r.file_written + r.shared + r.other;
}

TEST(Smaps, CapturesAddUpToWhatTheKernelSaysInStatus) {
  for (const char* name : {"cat", "python_threads", "huge_file", "subject"}) {
    const Capture captured = capture(name);
    const auto parsed = parse_smaps(captured.smaps, captured.stacks);
    ASSERT_TRUE(parsed.ok()) << name;
    const ResidentByMapping& r = parsed.value();
    EXPECT_EQ(sum(r), r.rss) << name;
    EXPECT_EQ(r.rss, captured.status.at("VmRSS")) << name;
    EXPECT_EQ(r.heap + r.anonymous + r.stacks + r.file_written, captured.status.at("RssAnon"))
        << name;
    EXPECT_EQ(r.shared, captured.status.at("RssShmem")) << name;
    EXPECT_EQ(r.file + r.other, captured.status.at("RssFile")) << name;
  }
}

TEST(Smaps, StacksOfFourThreadsAreFoundByTheirPointers) {
  const Capture captured = capture("subject");
  const auto parsed = parse_smaps(captured.smaps, captured.stacks);
  ASSERT_TRUE(parsed.ok());
  EXPECT_GT(parsed.value().stacks, 8'000'000u);
  EXPECT_LT(parsed.value().stacks, 8'600'000u);
}

TEST(Smaps, StacksAreFoundByTheirGuardPagesToo) {
  for (const char* name : {"subject", "python_threads"}) {
    const Capture captured = capture(name);
    const auto by_pointer = parse_smaps(captured.smaps, captured.stacks);
    const std::vector<uint64_t> guarded = stacks_above_guards(captured.smaps);
    const auto by_guard = parse_smaps(captured.smaps, guarded);
    EXPECT_EQ(guarded.size() + 1, captured.stacks.size()) << name;  // Not that of the main thread.
    ASSERT_TRUE(by_pointer.ok() && by_guard.ok());
    EXPECT_EQ(by_pointer.value().stacks, by_guard.value().stacks) << name;
  }
}

TEST(Smaps, PrivatePagesOfAMappedFileAreWrittenOnes) {
  const Capture captured = capture("huge_file");
  const auto parsed = parse_smaps(captured.smaps, captured.stacks);
  ASSERT_TRUE(parsed.ok());
  EXPECT_GT(parsed.value().file_written, uint64_t{1} << 20);
  EXPECT_GT(parsed.value().file, uint64_t{8} << 20);
  EXPECT_EQ(parsed.value().shared, uint64_t{5} << 20);
}

constexpr std::string_view kJoined =
    "7f0000000000-7f0000001000 ---p 00000000 00:00 0 \n"
    "Rss:                   0 kB\n"
    "7f0000001000-7f0004801000 rw-p 00000000 00:00 0 \n"
    "Rss:               65600 kB\n"
    "Anonymous:         65600 kB\n";

TEST(Smaps, StackJoinedWithItsNeighbourCountsFromThePointerUp) {
  // The stack ends at 7f0000801000; 16 kB of it are above the pointer.
  const auto parsed = parse_smaps(kJoined, {0x7f00007fd010});
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed.value().stacks, 16u * 1024);
  EXPECT_EQ(parsed.value().anonymous, (65600u - 16) * 1024);
}

TEST(Smaps, PointerPastEveryStackClaimsNothing) {
  const auto parsed = parse_smaps(kJoined, {0x7f0004000000, 5});
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed.value().stacks, 0u);
}

TEST(Smaps, NamesOfAnonymousMemoryAreUnderstood) {
  const auto parsed = parse_smaps(
      "10000-20000 rw-p 0 00:00 0   [anon: glibc: pthread stack: 12]\nRss: 4 kB\n"
      "20000-30000 rw-p 0 00:00 0   [anon: arena]\nRss: 8 kB\n"
      "30000-40000 rw-s 0 00:01 7   /dev/zero (deleted)\nRss: 16 kB\n"
      "40000-50000 r-xp 0 00:00 0   [vdso]\nRss: 32 kB\n"
      "50000-60000 rw-s 0 00:01 7   /memfd:a file with: a colon (deleted)\nRss: 64 kB\n"
      "60000-70000 rw-p 0 00:00 0   [heap]\nRss: 128 kB\n",
      {});
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  const ResidentByMapping& r = parsed.value();
  EXPECT_THAT((std::vector<uint64_t>{r.stacks, r.anonymous, r.shared, r.other, r.heap}),
              ElementsAre(4 * 1024, 8 * 1024, 80 * 1024, 32 * 1024, 128 * 1024));
}

TEST(Smaps, BadLineIsNamed) {
  const auto trouble = [](std::string_view text) {
    const auto parsed = parse_smaps(text, {});
    return parsed.ok() ? std::string() : parsed.error().message;
  };
  EXPECT_EQ(trouble("nonsense\n"), "smaps line 1: no mapping begins like that");
  EXPECT_EQ(trouble("Rss: 4 kB\n"), "smaps line 1: a figure stands before the first mapping");
  EXPECT_EQ(trouble("1000-2000 rw-p 0 00:00 0\nRss: x kB\n"),
            "smaps line 2: Rss is no amount of kB");
  EXPECT_THAT(trouble("1000-2000 rw-p 0 00:00 0\nRss: 99999999999999999 kB"), HasSubstr("line 2"));
  EXPECT_EQ(trouble(""), "");
}

TEST(StackPointer, IsTheLastWordButOne) {
  EXPECT_EQ(stack_pointer_in("230 0x1 0x1 0x7 0x0 0x0 0x0 0x7f7cbf01ac00 0x7f7cbf6ed545\n"),
            0x7f7cbf01ac00u);
  EXPECT_EQ(stack_pointer_in("-1 0x7ffca78a8820 0x401000"), 0x7ffca78a8820u);
  EXPECT_FALSE(stack_pointer_in("running\n"));
  EXPECT_FALSE(stack_pointer_in(""));
}

TEST(ReadResident, OfThisProcessAddsUp) {
  const auto read = read_resident(::getpid());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(sum(read.value()), read.value().rss);
  EXPECT_GT(read.value().rss, 0u);
  EXPECT_GT(read.value().stacks, 0u);
}

TEST(ReadResident, OfNobodySaysSo) {
  const auto read = read_resident(0x7ffffff0);
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().message, HasSubstr("there is no process with pid"));
}

}  // namespace
}  // namespace plateau
