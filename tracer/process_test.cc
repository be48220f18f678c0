// SPDX-License-Identifier: Apache-2.0
#include "tracer/process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "tracer/testing/segment_reader.h"

namespace plateau::trace {
namespace {

// In a child, because the state of the process is one for all tests. What it checks it says by how
// it exits.
template <typename Body>
int status_of_child(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    _exit(body() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

void fill_to(size_t size) {
  static uint64_t next = 0x7f0000000000;
  while (tables.blocks.size() < size) {
    tables.blocks.insert(next += 48);
  }
}

TEST(Process, IntervalDoublesAsTheTableFillsUpAndNotBefore) {
  constexpr size_t kCapacity = decltype(tables.blocks)::capacity();
  const int status = status_of_child([] {
    auto segment = std::make_unique<SegmentHeader>();
    process.first_interval_log2 = 12;
    process.interval_log2 = 12;
    fill_to(kCapacity / 4 * 3);
    make_room_for_samples(*segment);
    const bool early = process.interval_log2 != 12;
    fill_to(kCapacity / 4 * 3 + 1);
    make_room_for_samples(*segment);
    make_room_for_samples(*segment);
    const bool once = process.interval_log2 == 13 && segment->interval_log2 == 13;
    fill_to(kCapacity / 8 * 7 + 1);
    make_room_for_samples(*segment);
    return !early && once && process.interval_log2 == 14 && segment->interval_log2 == 14;
  });
  EXPECT_EQ(status, 0);
}

TEST(Process, SpecsAreUnderstoodOrRefused) {
  for (const char* bad :
       {"", ":", "/tmp", "/tmp:exact", "/tmp:exact:", ":exact:0", "/tmp:some:1", "/tmp:sampled:0",
        "/tmp:sampled:1x", "/tmp:sampled:99999999999999999999", "/tmp:exact:0:1"}) {
    EXPECT_NE(status_of_child([&] { return configure_from(bad); }), 0) << bad;
  }
  EXPECT_EQ(status_of_child([] {
              return configure_from("/tmp:sampled:524288") && process.mode == Mode::sampled &&
                     process.interval_log2 == 19;
            }),
            0);
  EXPECT_EQ(status_of_child([] {
              return configure_from("/tmp:exact:0") && process.mode == Mode::exact &&
                     process.interval_log2 == 0;
            }),
            0);
}

TEST(Process, ChildFindsTheTablesEmptyAndMakesItsOwnSegment) {
  std::string pattern = "/tmp/plateau-process-XXXXXX";
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  const int status = status_of_child([&] {
    if (!configure_from((pattern + ":sampled:4096").c_str()) || current_segment() == nullptr) {
      return false;
    }
    tables.blocks.insert(4096);
    const SegmentHeader* mine = current_segment();
    return status_of_child([&] {
             return tables.owner == kNoOwner && tables.blocks.size() == 0 &&
                    current_segment() != nullptr && current_segment() != mine &&
                    current_segment()->pid == static_cast<uint32_t>(getpid());
           }) == 0 &&
           tables.blocks.size() == 1 && current_segment() == mine;
  });
  EXPECT_EQ(status, 0);
  size_t large = 0, small = 0;
  for (const auto& entry : std::filesystem::directory_iterator(pattern)) {
    if (entry.path().extension() != ".segment") continue;
    large += entry.file_size() == kSegmentBytes ? 1 : 0;
    small += entry.file_size() == segment_bytes(kMinLaneBytes) ? 1 : 0;
  }
  EXPECT_EQ(large, 1U);
  EXPECT_EQ(small, 1U) << "the child's";
  std::filesystem::remove_all(pattern);
}

}  // namespace
}  // namespace plateau::trace
