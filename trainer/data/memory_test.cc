// SPDX-License-Identifier: Apache-2.0
// What loading leaves behind, asked of the allocator: bytes in use before and after an epoch.
#include <malloc.h>

#include <cstdint>

#include "trainer/data/data_for_test.h"
#include "trainer/data/loader.h"

namespace plateau::train {
namespace {

// In all arenas, with mapped blocks.
int64_t bytes_in_use() {
  const struct mallinfo2 info = ::mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
}

struct Growth {
  std::vector<int64_t> after_epoch;  // Bytes in use, loader alive, nothing held.
  int64_t batch_bytes = 0;           // Of the largest batch.
};

Growth growth_over_epochs(const Dataset& dataset, const Tokenizer& tokenizer, int64_t workers) {
  Growth growth;
  growth.after_epoch.reserve(4);
  Loader loader(dataset, tokenizer, {.batch_size = 4, .workers = workers});
  for (int64_t epoch = 0; epoch < 4; ++epoch) {
    loader.start(epoch, 0);
    while (true) {
      Result<std::optional<Batch>> batch = loader.next();
      if (!batch || !batch.value()) break;
      growth.batch_bytes = std::max(growth.batch_bytes, batch.value()->bytes());
    }
    growth.after_epoch.push_back(bytes_in_use());
  }
  return growth;
}

class LoaderMemory : public testing::Test {
 protected:
  void SetUp() override {
    const int64_t before = bytes_in_use();
    const std::vector<char> block(1 << 20);
    if (bytes_in_use() - before < static_cast<int64_t>(block.size())) {
      GTEST_SKIP() << "the allocator, a sanitizer's, does not answer mallinfo2";
    }
  }
  // 64 examples of 112 x 112 pixels: decoded they are 2.4 MB, sixteen batches 9.6 MB.
  static std::string jsonl() { return shapes_jsonl(64, 112); }
};

TEST_F(LoaderMemory, DoesNotGrowWithTheExamplesSeen) {
  const ScratchDirectory folder;
  const Tokenizer tokenizer = small_tokenizer();
  Result<Dataset> dataset = Dataset::open(folder.write("d.jsonl", jsonl()), {});
  ASSERT_TRUE(dataset.ok());
  for (const int64_t workers : {0, 2}) {
    const int64_t before = bytes_in_use();
    const Growth growth = growth_over_epochs(dataset.value(), tokenizer, workers);
    ASSERT_GT(growth.batch_bytes, 0);
    for (const int64_t after : growth.after_epoch) {
      EXPECT_LT(after - before, growth.batch_bytes) << workers << " workers";
    }
  }
}

TEST_F(LoaderMemory, OfKeptPicturesGrowsForOneEpochAndIsCounted) {
  const ScratchDirectory folder;
  const Tokenizer tokenizer = small_tokenizer();
  Result<Dataset> dataset = Dataset::open(folder.write("d.jsonl", jsonl()), {.keep_decoded = true});
  ASSERT_TRUE(dataset.ok());
  const int64_t before = bytes_in_use();
  const Growth growth = growth_over_epochs(dataset.value(), tokenizer, 2);
  const int64_t kept = dataset.value().kept_bytes();
  EXPECT_EQ(kept, 64 * 112 * 112 * 3);
  EXPECT_NEAR(static_cast<double>(growth.after_epoch[0] - before), static_cast<double>(kept),
              static_cast<double>(growth.batch_bytes));
  EXPECT_LT(growth.after_epoch[3] - growth.after_epoch[0], growth.batch_bytes);
}

TEST_F(LoaderMemory, OfAnOpenDatasetIsSixteenBytesAnExample) {
  const ScratchDirectory folder;
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += simple_line("q", "a.png", "r");
  const auto path = folder.write("d.jsonl", text);
  const int64_t before = bytes_in_use();
  const Result<Dataset> dataset = Dataset::open(path, {});
  ASSERT_TRUE(dataset.ok());
  EXPECT_NEAR(static_cast<double>(bytes_in_use() - before), 16.0 * 20'000, 8'000.0);
}

}  // namespace
}  // namespace plateau::train
