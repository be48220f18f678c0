// SPDX-License-Identifier: Apache-2.0
// Real programs under the real library: what they allocate against what the segment says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <sstream>

#include "tracer/testing/traced_run.h"

namespace plateau::trace::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

bool exited_well(const TracedRun& run) {
  return WIFEXITED(run.status) && WEXITSTATUS(run.status) == 0;
}

// The books of counting.cc.
struct Books {
  uint64_t begin = 0;
  uint64_t end = 0;
  std::map<uint64_t, uint64_t> blocks;
};

Books read_books(const std::string& output) {
  Books books;
  std::istringstream lines(output);
  std::string word;
  while (lines >> word) {
    if (word == "window") {
      lines >> books.begin >> books.end;
    } else if (word == "block") {
      uint64_t address = 0;
      lines >> address;
      lines >> books.blocks[address];
    }
  }
  return books;
}

// What the segment says was allocated within the window and is alive at its end.
std::map<uint64_t, uint64_t> traced_within(const SegmentContents& segment, const Books& books) {
  SegmentContents part;
  for (const HeapEvent& event : segment.events) {
    if (event.stamp >= books.begin && event.stamp <= books.end && event.kind == BlockKind::heap) {
      part.events.push_back(event);
    }
  }
  std::map<uint64_t, uint64_t> out;
  for (const auto& [address, block] : live_blocks(part)) {
    out[address] = block.bytes;
  }
  return out;
}

std::string library_of(const std::string& allocator) {
  for (const char* directory : {"/usr/lib/x86_64-linux-gnu/", "/usr/lib/aarch64-linux-gnu/"}) {
    if (access((directory + allocator).c_str(), R_OK) == 0) {
      return directory + allocator;
    }
  }
  return "";
}

struct AllocatorCase {
  std::string name;
  std::string library;  // Empty: glibc.
  AllocatorKind kind;
};

class EveryAllocator : public ::testing::TestWithParam<AllocatorCase> {};

void expect_books_agree(const TracedRun& run, AllocatorKind kind) {
  ASSERT_TRUE(exited_well(run)) << run.status << run.output;
  ASSERT_EQ(run.segments.size(), 1U);
  const SegmentContents& segment = run.segments[0];
  EXPECT_EQ(segment.dropped, 0U);
  EXPECT_FALSE(segment.damaged);
  EXPECT_EQ(segment.stacks_missing, 0U);
  const Books books = read_books(run.output);
  EXPECT_GT(books.blocks.size(), 100U);
  EXPECT_EQ(traced_within(segment, books), books.blocks);
  EXPECT_EQ(segment.account_answered, 1U);
  EXPECT_EQ(segment.allocator, kind);
  EXPECT_GT(segment.system, 0U);
}

TEST_P(EveryAllocator, ExactModeAgreesToTheByteWhenPreloaded) {
  const std::string library = library_of(GetParam().library);
  if (!GetParam().library.empty() && library.empty()) {
    GTEST_SKIP() << GetParam().library << " is not installed";
  }
  expect_books_agree(run_traced({.command = {target_program("counting")},
                                 .also_preload = GetParam().library.empty() ? "" : library,
                                 .ask_account = true}),
                     GetParam().kind);
}

TEST_P(EveryAllocator, ExactModeAgreesToTheByteWhenLinked) {
  const std::string program =
      target_program("counting" + (GetParam().library.empty() ? "" : "_" + GetParam().name));
  if (access(program.c_str(), X_OK) != 0) {
    GTEST_SKIP() << program << " was not built: its allocator is not installed";
  }
  expect_books_agree(run_traced({.command = {program}, .ask_account = true}), GetParam().kind);
}

TEST_P(EveryAllocator, ThreadsLoseNothing) {
  const std::string library = library_of(GetParam().library);
  if (!GetParam().library.empty() && library.empty()) {
    GTEST_SKIP() << GetParam().library << " is not installed";
  }
  const TracedRun run = run_traced({.command = {target_program("counting"), "4"},
                                    .also_preload = GetParam().library.empty() ? "" : library});
  ASSERT_TRUE(exited_well(run)) << run.status << run.output;
  ASSERT_EQ(run.segments.size(), 1U);
  EXPECT_EQ(run.segments[0].dropped, 0U);
  const Books books = read_books(run.output);
  // Making threads allocates as well; those blocks are not in the program's books.
  const std::map<uint64_t, uint64_t> traced = traced_within(run.segments[0], books);
  EXPECT_GT(books.blocks.size(), 400U);
  EXPECT_LE(traced.size(), books.blocks.size() + 16);
  for (const auto& [address, bytes] : books.blocks) {
    EXPECT_THAT(traced, Contains(std::pair(address, bytes)));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Traced, EveryAllocator,
    ::testing::Values(AllocatorCase{"glibc", "", AllocatorKind::glibc},
                      AllocatorCase{"jemalloc", "libjemalloc.so.2", AllocatorKind::jemalloc},
                      AllocatorCase{"tcmalloc_minimal", "libtcmalloc_minimal.so.4",
                                    AllocatorKind::tcmalloc},
                      AllocatorCase{"mimalloc", "libmimalloc.so.2", AllocatorKind::mimalloc}),
    [](const auto& allocator) { return allocator.param.name; });

TEST(Traced, SampledEstimatesAreWithinTheirError) {
  const TracedRun run = run_traced({.command = {target_program("sites")}, .mode = "sampled:65536"});
  ASSERT_TRUE(exited_well(run)) << run.status;
  ASSERT_EQ(run.segments.size(), 1U);
  const SegmentContents& segment = run.segments[0];
  EXPECT_EQ(segment.dropped, 0U);

  struct Sum {
    double bytes = 0;
    double variance = 0;
  };
  std::map<uint64_t, Sum> by_size;
  for (const auto& [address, block] : live_blocks(segment)) {
    const auto bytes = static_cast<double>(block.bytes);
    const double p = 1 - std::exp(-bytes / std::ldexp(1, static_cast<int>(block.interval_log2)));
    by_size[block.bytes].bytes += bytes / p;
    by_size[block.bytes].variance += bytes * bytes * (1 - p) / (p * p);
  }
  const std::map<uint64_t, double> truth = {{100, 40e6}, {5'000, 30e6}, {1'000'000, 30e6}};
  for (const auto& [size, bytes] : truth) {
    EXPECT_NEAR(by_size[size].bytes, bytes, 5.5 * std::sqrt(by_size[size].variance) + 1) << size;
  }
}

TEST(Traced, FreesOfSampledBlocksAreToldAndOthersAreNot) {
  const TracedRun run = run_traced({.command = {target_program("sites")}, .mode = "sampled:65536"});
  ASSERT_EQ(run.segments.size(), 1U);
  std::map<uint64_t, int> alive;
  size_t frees = 0;
  for (const HeapEvent& event : run.segments[0].events) {
    if (event.type == RecordType::alloc) {
      EXPECT_EQ(alive[event.address]++, 0);
    } else {
      ++frees;
      EXPECT_EQ(alive[event.address]--, 1);
    }
  }
  EXPECT_GT(frees, 100U);
}

TEST(Traced, ProgramThatAllocatesLittleMakesNoSegmentInSampledMode) {
  const TracedRun run = run_traced({.command = {"/bin/true"}, .mode = "sampled:1073741824"});
  EXPECT_TRUE(exited_well(run));
  EXPECT_THAT(run.segments, IsEmpty());
}

TEST(Traced, MappingsAreToldWithWhatBecameOfThem) {
  for (const char* mode : {"exact:0", "sampled:524288"}) {
    const TracedRun run = run_traced({.command = {target_program("mappings")}, .mode = mode});
    ASSERT_TRUE(exited_well(run)) << run.status;
    ASSERT_EQ(run.segments.size(), 1U);
    std::map<uint64_t, uint64_t> traced;
    for (const auto& [address, block] : live_blocks(run.segments[0])) {
      // Above all memory are files that are held without a mapping; holdings_test.cc has them.
      const bool mapped = block.kind == BlockKind::mapping || block.kind == BlockKind::shared;
      if (mapped && address >> 63 == 0) {
        traced[address] = block.bytes;
      }
    }
    std::map<uint64_t, uint64_t> truth;
    std::istringstream lines(run.output);
    std::string what;
    uint64_t address = 0;
    uint64_t bytes = 0;
    while (lines >> what >> address >> bytes) {
      if (what != "not") {
        truth[address] = bytes;
      }
    }
    EXPECT_EQ(truth.size(), 4U);
    EXPECT_EQ(traced, truth) << mode;
  }
}

size_t allocs_of(const SegmentContents& segment, uint64_t bytes) {
  return static_cast<size_t>(
      std::count_if(segment.events.begin(), segment.events.end(), [&](const HeapEvent& event) {
        return event.type == RecordType::alloc && event.bytes == bytes;
      }));
}

size_t frames_without_a_module(const SegmentContents& segment) {
  size_t count = 0;
  for (const auto& [id, stack] : segment.stacks) {
    for (const uint64_t frame : stack.native) {
      count += std::none_of(segment.modules.begin(), segment.modules.end(),
                            [frame](const auto& m) { return frame >= m.begin && frame < m.end; });
    }
  }
  return count;
}

TEST(Traced, ForkedChildHasASegmentOfItsOwn) {
  const TracedRun run = run_traced({.command = {target_program("forking")}});
  ASSERT_TRUE(exited_well(run)) << run.status << run.output;
  std::map<std::string, uint32_t> pids;
  std::istringstream lines(run.output);
  std::string how;
  uint32_t pid = 0;
  while (lines >> how >> pid) {
    pids[how] = pid;
  }
  ASSERT_EQ(pids.size(), 6U) << run.output;

  const SegmentContents* parent = run.of(pids["parent"]);
  ASSERT_NE(parent, nullptr);
  EXPECT_EQ(allocs_of(*parent, 111), 200U);
  EXPECT_EQ(allocs_of(*parent, 222), 0U);
  EXPECT_EQ(allocs_of(*parent, 333), 1U) << "a vfork child allocates in its parent's memory";
  EXPECT_EQ(parent->state, SegmentState::ended);
  EXPECT_EQ(parent->stacks_missing, 0U);
  for (const char* child : {"fork", "clone", "grandchild"}) {
    const SegmentContents* segment = run.of(pids[child]);
    ASSERT_NE(segment, nullptr) << child;
    EXPECT_EQ(allocs_of(*segment, 111), 0U) << child;
    EXPECT_EQ(allocs_of(*segment, 222), 50U) << child;
    EXPECT_EQ(segment->stacks_missing, 0U) << child;
    EXPECT_EQ(frames_without_a_module(*segment), 0U) << child;
    EXPECT_FALSE(segment->damaged);
  }
  EXPECT_EQ(run.of(pids["spawn"]), nullptr) << "its environment is empty";
}

TEST(Traced, ConfinedProgramsGoOnUntraced) {
  for (const char* how : {"seccomp", "only-memory", "strict", "address-space", "files", "file-size",
                          "closed", "chroot"}) {
    // So far apart that the segment is not made before the limit is there.
    const TracedRun run =
        run_traced({.command = {target_program("confined"), how}, .mode = "sampled:1048576"});
    EXPECT_TRUE(exited_well(run)) << how << " " << run.status;
    EXPECT_EQ(run.output, "done\n") << how;
  }
}

TEST(Traced, FilterThatAProgramPutsOnItselfKillsNothingAndLosesNothing) {
  for (const char* how : {"seccomp", "only-memory", "strict"}) {
    for (const char* mode : {"exact:0", "sampled:1048576"}) {
      const TracedRun run =
          run_traced({.command = {target_program("confined"), how}, .mode = mode});
      EXPECT_TRUE(exited_well(run)) << how << " " << mode << " " << run.status;
      EXPECT_EQ(run.output, "done\n") << how << " " << mode;
      ASSERT_EQ(run.segments.size(), 1U) << how << " " << mode;
      // Every one, also those after the filter. The strict mode forbids the clock, too.
      if (std::string_view(mode) == "exact:0" && std::string_view(how) != "strict") {
        EXPECT_EQ(allocs_of(run.segments[0], 10'000), 10'000U) << how;
      }
    }
  }
}

TEST(Traced, ProgramThatBeginsUnderAStrictFilterIsNotKilled) {
  for (const char* mode : {"exact:0", "sampled:4096"}) {
    const TracedRun run = run_traced(
        {.command = {target_program("confined"), "exec", target_program("confined"), "not"},
         .mode = mode});
    EXPECT_TRUE(exited_well(run)) << mode << " " << run.status;
    EXPECT_EQ(run.output, "done\n") << mode;
  }
}

TEST(Traced, DirectoryThatIsNotThereMeansNoTracing) {
  const TracedRun run = run_traced(
      {.command = {target_program("confined"), "closed"}, .directory = "/nonexistent/place"});
  EXPECT_TRUE(exited_well(run)) << run.status;
  EXPECT_EQ(run.output, "done\n");
}

TEST(Traced, SpecThatIsNotUnderstoodMeansNoTracing) {
  for (const char* mode :
       {"", "sampled", "sampled:", "sampled:0", "exact:x", "fast:1", ":", "::"}) {
    const TracedRun run =
        run_traced({.command = {target_program("confined"), "closed"}, .mode = mode});
    EXPECT_TRUE(exited_well(run)) << mode;
    EXPECT_THAT(run.segments, IsEmpty()) << mode;
  }
}

TEST(Traced, NamesThatAreNotInterposedBindAsBefore) {
  const TracedRun plain = run_traced({.command = {target_program("bindings")}, .mode = ""});
  const TracedRun traced = run_traced({.command = {target_program("bindings")}});
  EXPECT_THAT(plain.output, HasSubstr("caught 1000"));
  EXPECT_EQ(traced.output, plain.output);
}

TEST(Traced, PythonArenasAreToldApart) {
  const TracedRun run = run_traced(
      {.command = {"/usr/bin/python3", "-c", "x = [str(i) * 20 for i in range(50000)]"}});
  ASSERT_TRUE(exited_well(run)) << run.status;
  ASSERT_EQ(run.segments.size(), 1U);
  EXPECT_EQ(run.segments[0].dropped, 0U);
  size_t arenas = 0;
  for (const HeapEvent& event : run.segments[0].events) {
    arenas += event.type == RecordType::alloc && event.kind == BlockKind::arena ? 1 : 0;
  }
  EXPECT_GT(arenas, 3U);
}

}  // namespace
}  // namespace plateau::trace::testing
