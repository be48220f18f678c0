// SPDX-License-Identifier: Apache-2.0
#include "tracer/lanes.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <map>
#include <thread>
#include <vector>

#include "tracer/patience.h"
#include "tracer/process.h"

namespace plateau::trace {
namespace {

class MappedSegment {
 public:
  MappedSegment()
      : header_(new(mmap(nullptr, kSegmentBytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) SegmentHeader) {}
  ~MappedSegment() { munmap(header_, kSegmentBytes); }
  MappedSegment(const MappedSegment&) = delete;
  MappedSegment& operator=(const MappedSegment&) = delete;
  SegmentHeader& operator*() const { return *header_; }
  SegmentHeader* operator->() const { return header_; }

 private:
  SegmentHeader* header_;
};

// A record of a length that depends on its number, filled with what can be checked.
struct Numbered {
  RecordHead head{.type = RecordType::code};
  uint64_t thread = 0;
  uint64_t number = 0;
};
size_t extra_bytes(uint64_t number) {
  return number * 7 % 300;
}

bool put_numbered(SegmentHeader& segment, uint64_t thread, uint64_t number) {
  const Numbered fixed{.thread = thread, .number = number};
  unsigned char extra[300];
  memset(extra, static_cast<int>((thread * 31 + number) & 0xff), sizeof(extra));
  const Piece pieces[] = {{&fixed, sizeof(fixed)}, {extra, extra_bytes(number)}};
  const RecordPieces record{pieces, 2};
  return put_into(segment, static_cast<uint32_t>(thread), &record, 1);
}

// Empties all lanes; what is wrong with a record is counted.
struct Reader {
  std::map<uint64_t, uint64_t> seen;
  uint64_t wrong = 0;
  std::map<std::pair<uint32_t, uint64_t>, uint64_t> last;

  void check(uint32_t lane, const char* at, const RecordHead& head) {
    Numbered fixed;
    memcpy(&fixed, at, sizeof(fixed));
    const size_t extra = extra_bytes(fixed.number);
    wrong += head.words * 8 != (sizeof(fixed) + extra + 7) / 8 * 8 ? 1 : 0;
    for (size_t i = 0; i < extra; ++i) {
      const auto byte = static_cast<unsigned char>(at[sizeof(fixed) + i]);
      wrong += byte != ((fixed.thread * 31 + fixed.number) & 0xff) ? 1 : 0;
    }
    uint64_t& before = last[{lane, fixed.thread}];
    wrong += before >= fixed.number ? 1 : 0;
    before = fixed.number;
    ++seen[fixed.thread];
  }

  void drain(SegmentHeader& segment) {
    for (uint32_t i = 0; i < kLaneCount; ++i) {
      Lane& lane = segment.lanes[i];
      const char* ring = reinterpret_cast<const char*>(&segment) + kHeaderBytes + i * kLaneBytes;
      uint64_t at = lane.read.load(std::memory_order_relaxed);
      const uint64_t end = lane.written.load(std::memory_order_acquire);
      while (at < end) {
        RecordHead head;
        memcpy(&head, ring + at % kLaneBytes, sizeof(head));
        if (head.type != RecordType::padding) {
          check(i, ring + at % kLaneBytes, head);
        }
        at += uint64_t{head.words} * 8;
      }
      lane.read.store(end, std::memory_order_release);
    }
  }
};

TEST(Lanes, EveryRecordOfEveryThreadArrivesWholeOrIsRefused) {
  const MappedSegment segment;
  constexpr uint64_t kThreads = 6;
  constexpr uint64_t kRecords = 60'000;
  std::vector<uint64_t> accepted(kThreads, 0);
  std::atomic<uint64_t> writing{kThreads};

  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (uint64_t number = 1; number <= kRecords; ++number) {
        accepted[thread] += put_numbered(*segment, thread, number) ? 1 : 0;
      }
      writing.fetch_sub(1);
    });
  }
  Reader reader;
  while (writing.load() > 0) {
    reader.drain(*segment);
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  reader.drain(*segment);

  EXPECT_EQ(reader.wrong, 0U);
  uint64_t all = 0;
  for (uint64_t thread = 0; thread < kThreads; ++thread) {
    EXPECT_EQ(reader.seen[thread], accepted[thread]) << "thread " << thread;
    all += accepted[thread];
  }
  // Some 60 MB went through 8 MB of rings.
  EXPECT_GT(all, 0U);
}

TEST(Lanes, FullRingsRefuseAndGoOnWhenEmptied) {
  const MappedSegment segment;
  uint64_t accepted = 0;
  while (put_numbered(*segment, 0, accepted + 1)) {
    ++accepted;
  }
  EXPECT_GT(accepted, kLaneCount * kLaneBytes / 330);
  EXPECT_FALSE(put_numbered(*segment, 1, 1));

  Reader reader;
  reader.drain(*segment);
  EXPECT_EQ(reader.seen[0], accepted);
  EXPECT_EQ(reader.wrong, 0U);
  EXPECT_TRUE(put_numbered(*segment, 0, accepted + 1));
}

TEST(Lanes, LockedLaneOfADeadWriterIsPassedBy) {
  const MappedSegment segment;
  segment->lanes[0].locked.store(1);
  EXPECT_TRUE(put_numbered(*segment, 0, 1));
  EXPECT_EQ(segment->lanes[0].written.load(), 0U);
  EXPECT_GT(segment->lanes[1].written.load(), 0U);
}

TEST(Lanes, AllLanesLockedRefusesAtOnce) {
  const MappedSegment segment;
  for (Lane& lane : segment->lanes) {
    lane.locked.store(1);
  }
  EXPECT_FALSE(put_numbered(*segment, 0, 1));
}

TEST(Lanes, RecordsPutTogetherStandTogetherOrNotAtAll) {
  const MappedSegment segment;
  const AllocRecord alloc{.head = {.type = RecordType::alloc}, .address = 16};
  const StackRecord stack{.head = {.type = RecordType::stack}, .id = 5};
  const Piece pieces[] = {{&stack, sizeof(stack)}, {&alloc, sizeof(alloc)}};
  const RecordPieces both[] = {{&pieces[0], 1}, {&pieces[1], 1}};
  // One word short of both: neither may be written.
  for (Lane& lane : segment->lanes) {
    lane.written.store(kLaneBytes - sizeof(stack) - sizeof(alloc) + 8);
  }
  EXPECT_FALSE(put_into(*segment, 0, both, 2));
  EXPECT_EQ(segment->lanes[0].written.load(), kLaneBytes - sizeof(stack) - sizeof(alloc) + 8);
  // With the ring read empty they go around its end: padding, then both.
  segment->lanes[0].read.store(segment->lanes[0].written.load());
  EXPECT_TRUE(put_into(*segment, 0, both, 2));
  EXPECT_EQ(segment->lanes[0].written.load(), kLaneBytes + sizeof(alloc));
}

// Lanes that are full, and whoever reads them.
void fill_up(SegmentHeader& segment) {
  const FreeRecord record{.head = {.type = RecordType::free}};
  const Piece piece{&record, sizeof(record)};
  const RecordPieces whole{&piece, 1};
  while (put_into(segment, 0, &whole, 1)) continue;
}

bool put_one(SegmentHeader& segment) {
  const FreeRecord record{.head = {.type = RecordType::free}};
  const Piece piece{&record, sizeof(record)};
  const RecordPieces whole{&piece, 1};
  return put_or_wait(segment, 0, &whole, 1);
}

// In a child, because the mode of the process is one for all tests.
bool holds_in_child(bool (*claim)()) {
  const pid_t child = fork();
  if (child == 0) {
    process.mode.store(Mode::exact);
    _exit(claim() ? 0 : 1);
  }
  int status = -1;
  return waitpid(child, &status, 0) == child && status == 0;
}

TEST(Patience, WriterOfEveryBlockWaitsForTheReader) {
  EXPECT_TRUE(holds_in_child([] {
    const MappedSegment segment;
    fill_up(*segment);
    std::thread reader([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      segment->lanes[2].read.store(4096);
    });
    const bool put = put_one(*segment);
    reader.join();
    return put && segment->waits.load() == 1;
  }));
}

TEST(Patience, ReaderThatIsGoneCostsOneWait) {
  EXPECT_TRUE(holds_in_child([] {
    const MappedSegment segment;
    fill_up(*segment);
    for (int i = 0; i < 1000; ++i) {
      if (put_one(*segment)) return false;
    }
    const bool once = segment->waits.load() == 1;
    // It is back.
    segment->lanes[0].read.store(4096);
    return once && put_one(*segment);
  }));
}

TEST(Patience, SampledBlocksNeverWait) {
  const MappedSegment segment;
  fill_up(*segment);
  EXPECT_FALSE(put_one(*segment));
  EXPECT_EQ(segment->waits.load(), 0U);
}

}  // namespace
}  // namespace plateau::trace
