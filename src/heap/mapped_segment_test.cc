// SPDX-License-Identifier: Apache-2.0
#include "heap/mapped_segment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/testing/scratch_directory.h"
#include "heap/testing/fake_tracer.h"

namespace plateau {
namespace {

// Writes down what comes.
struct Listener {
  void expect(uint64_t) {}
  void alloc(const trace::AllocRecord& record) { allocs.push_back(record.address); }
  void free(const trace::FreeRecord& record) { frees.push_back(record.address); }
  void unmap(const trace::UnmapRecord& record) { frees.push_back(record.address); }
  void stack(StackNews&& news) { stacks.push_back(std::move(news)); }
  void code(CodeNews&& news) { codes.push_back(std::move(news)); }
  void module(HeapModule&& module) { modules.push_back(std::move(module)); }

  std::vector<uint64_t> allocs;
  std::vector<uint64_t> frees;
  std::vector<StackNews> stacks;
  std::vector<CodeNews> codes;
  std::vector<HeapModule> modules;
};

class Segments : public testing::Test {
 protected:
  ScratchDirectory scratch;
  std::string directory = scratch.path();
};

TEST_F(Segments, SmallerLanesAreReadOverManyLaps) {
  for (uint64_t lane_bytes = trace::kMinLaneBytes; lane_bytes < trace::kLaneBytes;
       lane_bytes *= trace::kLaneStep) {
    FakeTracer tracer(directory, 43, 1, lane_bytes);
    Result<MappedSegment> opened = MappedSegment::open(tracer.path());
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    EXPECT_EQ(opened.value().lane_bytes(), lane_bytes);
    Listener listener;
    for (uint64_t i = 1; i <= 50'000; ++i) {
      ASSERT_TRUE(tracer.put(3, alloc_record(i, 10, 1, i)));
      if (i % 1000 == 0) opened.value().drain(opened.value().cut(), listener);
    }
    ASSERT_EQ(listener.allocs.size(), 50'000u);
    EXPECT_EQ(listener.allocs.back(), 50'000u);
    EXPECT_EQ(opened.value().given_up(), 0u);
  }
}

TEST_F(Segments, LanesOfASizeThatNoTracerMakesAreRefused) {
  for (const uint64_t lane_bytes :
       {trace::kMinLaneBytes / 4, trace::kMinLaneBytes * 2, trace::kLaneBytes * 4}) {
    const FakeTracer tracer(directory, 44, 1, lane_bytes);
    EXPECT_FALSE(MappedSegment::open(tracer.path()).ok()) << lane_bytes;
  }
  // What the header says must be what the file has: it is the job's to write.
  FakeTracer tracer(directory, 45);
  tracer.header().lane_bytes = trace::kMinLaneBytes;
  EXPECT_FALSE(MappedSegment::open(tracer.path()).ok());
}

TEST_F(Segments, RecordsOfAllTypesArriveOverManyLapsOfTheRing) {
  // Given a segment
  FakeTracer tracer(directory, 42);
  Result<MappedSegment> opened = MappedSegment::open(tracer.path());
  ASSERT_TRUE(opened.ok());
  MappedSegment& segment = opened.value();
  EXPECT_EQ(segment.pid(), 42);
  Listener listener;
  // When more is written than a lane holds, with records of every length
  const std::string table(1003, 't');
  uint64_t sent = 0;
  for (uint64_t i = 1; i <= 10000; ++i) {
    ASSERT_TRUE(tracer.put(0, stack_words(i, {1, 2, i}, {{9, 4, 1}})));
    ASSERT_TRUE(tracer.put(0, code_words(i, "train.py", "main", table)));
    ASSERT_TRUE(tracer.put(0, module_words(i, i + 1, "abc", "/lib/x.so")));
    ASSERT_TRUE(tracer.put(0, alloc_record(i, 10, 1, i)));
    ASSERT_TRUE(tracer.put(0, free_record(i, i)));
    if (i % 1000 == 0) {
      const MappedSegment::Cut cut = segment.cut();
      EXPECT_TRUE(cut.ordered);
      segment.drain(cut, listener);
    }
    ++sent;
  }
  // Then all of it arrives
  EXPECT_EQ(listener.allocs.size(), sent);
  EXPECT_EQ(listener.frees.size(), sent);
  EXPECT_EQ(segment.given_up(), 0U);
  ASSERT_EQ(listener.stacks.size(), sent);
  EXPECT_THAT(listener.stacks[5].native, testing::ElementsAre(1, 2, 6));
  EXPECT_EQ(listener.stacks[5].python[0].instruction, 4);
  EXPECT_EQ(listener.codes[5].code.file, "train.py");
  EXPECT_EQ(listener.codes[5].code.function, "main");
  EXPECT_EQ(listener.codes[5].code.line_table, table);
  EXPECT_EQ(listener.modules[5].path, "/lib/x.so");
  EXPECT_EQ(listener.modules[5].build_id, "abc");
}

TEST_F(Segments, TwoBusyLanesAreNotOrdered) {
  FakeTracer tracer(directory, 42);
  Result<MappedSegment> segment = MappedSegment::open(tracer.path());
  ASSERT_TRUE(segment.ok());
  tracer.put(1, alloc_record(16, 10, 1, 1));
  EXPECT_TRUE(segment.value().cut().ordered);
  tracer.put(2, alloc_record(32, 10, 1, 1));
  EXPECT_FALSE(segment.value().cut().ordered);
}

TEST_F(Segments, ABadRecordCostsWhatIsPublishedAndNoMore) {
  FakeTracer tracer(directory, 42);
  Result<MappedSegment> opened = MappedSegment::open(tracer.path());
  ASSERT_TRUE(opened.ok());
  MappedSegment& segment = opened.value();
  Listener listener;
  // Given a good record, a bad one, and a good one behind it
  tracer.put(0, alloc_record(1, 10, 1, 1));
  tracer.put(0, std::vector<uint64_t>{UINT64_MAX, 5, 6});
  tracer.put(0, alloc_record(2, 10, 1, 1));
  tracer.put(1, alloc_record(3, 10, 1, 1));
  segment.drain(segment.cut(), listener);
  EXPECT_THAT(listener.allocs, testing::ElementsAre(1, 3));
  EXPECT_EQ(segment.given_up(), 1U);
  EXPECT_EQ(segment.lost_bytes(), 24U + 40U);
  // Then what is published later is read again
  tracer.put(0, alloc_record(4, 10, 1, 1));
  segment.drain(segment.cut(), listener);
  EXPECT_THAT(listener.allocs, testing::ElementsAre(1, 3, 4));
}

TEST_F(Segments, AnImpossibleCounterIsGivenUp) {
  FakeTracer tracer(directory, 42);
  Result<MappedSegment> opened = MappedSegment::open(tracer.path());
  ASSERT_TRUE(opened.ok());
  MappedSegment& segment = opened.value();
  Listener listener;
  for (const uint64_t written : {trace::kLaneBytes + 8, uint64_t{13}, uint64_t{0}, UINT64_MAX}) {
    tracer.header().lanes[3].written.store(written);
    segment.drain(segment.cut(), listener);
  }
  EXPECT_TRUE(listener.allocs.empty());
  EXPECT_GE(segment.given_up(), 3U);
}

TEST_F(Segments, AFileCutShortIsNotTouched) {
  FakeTracer tracer(directory, 42);
  Result<MappedSegment> segment = MappedSegment::open(tracer.path());
  ASSERT_TRUE(segment.ok());
  tracer.put(0, alloc_record(1, 10, 1, 1));
  ASSERT_EQ(truncate(tracer.path().c_str(), trace::kHeaderBytes), 0);
  EXPECT_EQ(segment.value().cut().bytes, 0U);
}

TEST_F(Segments, GarbageIsRefused) {
  const auto refusal = [&](const std::string& name) {
    const Result<MappedSegment> segment = MappedSegment::open(directory + "/" + name);
    return segment.ok() ? "" : segment.error().message;
  };
  EXPECT_THAT(refusal("absent-1.segment"), testing::HasSubstr("not the name"));
  EXPECT_THAT(refusal("1-1.segment"), testing::HasSubstr("No such file"));
  std::ofstream(directory + "/2-1.segment") << "short";
  EXPECT_THAT(refusal("2-1.segment"), testing::HasSubstr("another size"));
  std::filesystem::create_directory(directory + "/3-1.segment");
  EXPECT_FALSE(refusal("3-1.segment").empty());
  std::filesystem::create_symlink("/dev/zero", directory + "/4-1.segment");
  EXPECT_FALSE(refusal("4-1.segment").empty());
  ASSERT_EQ(mkfifo((directory + "/5-1.segment").c_str(), 0600), 0);
  EXPECT_FALSE(refusal("5-1.segment").empty());
  FakeTracer version(directory, 6);
  version.header().version = 99;
  EXPECT_THAT(refusal("6-1.segment"), testing::HasSubstr("another version"));
  FakeTracer shape(directory, 7);
  shape.header().lane_bytes = 1;
  EXPECT_THAT(refusal("7-1.segment"), testing::HasSubstr("another shape"));
  FakeTracer magic(directory, 8);
  magic.header().magic = 1;
  EXPECT_THAT(refusal("8-1.segment"), testing::HasSubstr("not a heap segment"));
  FakeTracer process(directory, 9);
  process.header().pid = 10;
  EXPECT_THAT(refusal("9-1.segment"), testing::HasSubstr("another process"));
}

}  // namespace
}  // namespace plateau
