// SPDX-License-Identifier: Apache-2.0
#include "import/framed_log.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "import/encode_for_test.h"

namespace plateau {
namespace {

using namespace testing_bytes;

template <typename Records>
struct Read {
  std::vector<std::string> records;
  FrameCounts counts;
};

template <typename Records>
Read<Records> read(std::string_view bytes) {
  LineReader input(open_memory(bytes, {}));
  Records frames(input);
  Read<Records> read;
  std::string_view record;
  while (frames.next(record)) read.records.emplace_back(record);
  read.counts = frames.counts();
  return read;
}

TEST(TfRecords, ComeInOrderAndMayBeEmpty) {
  const auto all = read<TfRecords>(tfrecord("one") + tfrecord("") + tfrecord("three"));
  EXPECT_EQ(all.records, (std::vector<std::string>{"one", "", "three"}));
  EXPECT_EQ(describe(all.counts), "");
}

TEST(TfRecords, ALastRecordThatIsCutIsTheEndOfALiveRun) {
  const std::string bytes = tfrecord("one") + tfrecord("two");
  for (size_t size = tfrecord("one").size(); size < bytes.size(); ++size) {
    const auto some = read<TfRecords>(bytes.substr(0, size));
    EXPECT_EQ(some.records, std::vector<std::string>{"one"}) << size;
    EXPECT_EQ(describe(some.counts), "") << size;
  }
}

TEST(TfRecords, AWrongChecksumCostsItsRecordAndIsCounted) {
  std::string bytes = tfrecord("one") + tfrecord("two") + tfrecord("three");
  bytes[tfrecord("one").size() + 12] ^= 1;
  const auto some = read<TfRecords>(bytes);
  EXPECT_EQ(some.records, (std::vector<std::string>{"one", "three"}));
  EXPECT_EQ(describe(some.counts), "1 of 3 records have a wrong checksum and were left out");
}

TEST(TfRecords, ADamagedLengthEndsTheReadingAndIsSaid) {
  std::string bytes = tfrecord("one") + tfrecord("two");
  bytes[tfrecord("one").size()] ^= 1;
  const auto some = read<TfRecords>(bytes);
  EXPECT_EQ(some.records, std::vector<std::string>{"one"});
  EXPECT_EQ(describe(some.counts), "damaged after 1 records: what follows is lost");
}

TEST(TfRecords, ALengthBeyondTheFileTakesNoMemory) {
  const std::string length = little(~uint64_t{0}, 8);
  const auto none = read<TfRecords>(length + little(masked_crc32c(length), 4) + "x");
  EXPECT_TRUE(none.records.empty());
  EXPECT_EQ(none.counts.too_long, 1u);
}

TEST(LevelDbRecords, LongRecordsAreJoinedOverBlocks) {
  const std::vector<std::string> records = {"a", std::string(100'000, 'b'), "c",
                                            std::string(32'750, 'd'), "e"};
  const auto all = read<LevelDbRecords>(wandb_file(records));
  EXPECT_EQ(all.records, records);
  EXPECT_EQ(describe(all.counts), "");
}

TEST(LevelDbRecords, ADamagedBlockCostsItsRecordsOnly) {
  std::vector<std::string> records;
  for (int i = 0; i < 4000; ++i) records.push_back("record " + std::to_string(i));
  std::string bytes = wandb_file(records);
  ASSERT_GT(bytes.size(), 2u * LevelDbRecords::kBlock);
  bytes[100] ^= 1;
  const auto some = read<LevelDbRecords>(bytes);
  EXPECT_EQ(some.records.size(), records.size() - 1);
  EXPECT_EQ(some.records.back(), records.back());
  EXPECT_EQ(some.counts.bad_checksum, 1u);
}

TEST(LevelDbRecords, ACutFileKeepsWhatIsWhole) {
  const std::string bytes = wandb_file({"one", std::string(50'000, 'x')});
  const auto some = read<LevelDbRecords>(std::string_view(bytes).substr(0, 40'000));
  EXPECT_EQ(some.records, std::vector<std::string>{"one"});
  EXPECT_EQ(describe(some.counts), "");
  EXPECT_TRUE(some.counts.cut_off);
}

}  // namespace
}  // namespace plateau
