// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/loader.h"

#include <rapidcheck/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "trainer/data/ahead.h"
#include "trainer/data/data_for_test.h"

namespace plateau::train {
namespace {

using testing::HasSubstr;

// A dataset on the disk with its tokenizer: what a loader needs to outlive it.
struct Fixture {
  explicit Fixture(const std::string& jsonl, const DatasetOptions& options = {})
      : dataset(open(folder.write("d.jsonl", jsonl), options)), tokenizer(small_tokenizer()) {}
  static Dataset open(const std::filesystem::path& path, const DatasetOptions& options) {
    Result<Dataset> dataset = Dataset::open(path, options);
    if (!dataset) std::abort();
    return std::move(dataset.value());
  }
  ScratchDirectory folder;
  Dataset dataset;
  Tokenizer tokenizer;
};

// All batches from a start on; an error ends the list and fails the test.
std::vector<Batch> batches_of(const Fixture& data, const LoaderOptions& options, int64_t epoch = 0,
                              int64_t first = 0) {
  Loader loader(data.dataset, data.tokenizer, options);
  loader.start(epoch, first);
  std::vector<Batch> batches;
  while (true) {
    Result<std::optional<Batch>> batch = loader.next();
    if (!batch) {
      ADD_FAILURE() << batch.error().message;
      return batches;
    }
    if (!batch.value()) return batches;
    batches.push_back(std::move(*batch.value()));
  }
}

void expect_same(const Batch& a, const Batch& b) {
  EXPECT_EQ(a.examples, b.examples);
  EXPECT_EQ(a.columns, b.columns);
  EXPECT_EQ(a.ids, b.ids);
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_EQ(a.mask, b.mask);
  EXPECT_EQ(a.patches, b.patches);
  EXPECT_EQ(a.labelled, b.labelled);
}

TEST(EpochOrder, IsAPermutationThatNeverChanges) {
  EXPECT_EQ(epoch_order(5, 42, 0, false), (std::vector<size_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(epoch_order(10, 42, 0, true), (std::vector<size_t>{9, 4, 2, 8, 1, 3, 0, 6, 5, 7}));
  EXPECT_EQ(epoch_order(10, 42, 1, true), (std::vector<size_t>{0, 9, 1, 6, 2, 8, 3, 4, 7, 5}));
  EXPECT_TRUE(epoch_order(0, 42, 1, true).empty());
  EXPECT_NE(epoch_order(100, 1, 2, true), epoch_order(100, 2, 1, true));
}

RC_GTEST_PROP(EpochOrder, HoldsEveryExampleOnce, (uint64_t seed, uint16_t epoch)) {
  const size_t examples = *rc::gen::inRange<size_t>(0, 300);
  std::vector<size_t> order = epoch_order(examples, seed, epoch, true);
  std::ranges::sort(order);
  RC_ASSERT(order == epoch_order(examples, seed, epoch, false));
}

// Each example is first in about as many epochs as any other.
TEST(EpochOrder, FavoursNobody) {
  std::vector<int> first(10);
  for (int64_t epoch = 0; epoch < 20'000; ++epoch) ++first[epoch_order(10, 7, epoch, true)[0]];
  for (const int count : first) EXPECT_NEAR(count, 2000, 200);
}

TEST(Loader, TheOrderDoesNotDependOnTheNumberOfWorkers) {
  const Fixture data(shapes_jsonl(11));
  const LoaderOptions alone{.batch_size = 2};
  const std::vector<Batch> expected = batches_of(data, alone);
  ASSERT_EQ(expected.size(), 6U);
  EXPECT_EQ(expected.back().rows, 1);
  for (const int64_t workers : {1, 3, 8}) {
    for (const int64_t queue : {0, 2}) {
      LoaderOptions options = alone;
      options.workers = workers;
      options.queue = queue;
      const std::vector<Batch> batches = batches_of(data, options);
      ASSERT_EQ(batches.size(), expected.size());
      for (size_t i = 0; i < batches.size(); ++i) expect_same(batches[i], expected[i]);
    }
  }
}

TEST(Loader, AnEpochHoldsEveryExampleOnce) {
  const Fixture data(shapes_jsonl(11));
  const LoaderOptions options{.batch_size = 3, .workers = 2};
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    std::vector<size_t> seen;
    for (const Batch& batch : batches_of(data, options, epoch)) {
      seen.insert(seen.end(), batch.examples.begin(), batch.examples.end());
    }
    EXPECT_EQ(seen, epoch_order(11, options.seed, epoch, true));
  }
}

TEST(Loader, StartsAtAnyBatchAndAgain) {
  const Fixture data(shapes_jsonl(9));
  for (const int64_t workers : {0, 2}) {
    const LoaderOptions options{.batch_size = 2, .workers = workers};
    const std::vector<Batch> whole = batches_of(data, options, 1);
    Loader loader(data.dataset, data.tokenizer, options);
    EXPECT_EQ(loader.batches_per_epoch(), 5);
    for (const int64_t first : {3, 0, 4, 1, 5}) {
      loader.start(1, first);  // With batches of the last start still under way.
      for (auto i = static_cast<size_t>(first);
           i < whole.size() && i < static_cast<size_t>(first) + 2; ++i) {
        Result<std::optional<Batch>> batch = loader.next();
        ASSERT_TRUE(batch.ok() && batch.value().has_value());
        expect_same(*batch.value(), whole[i]);
      }
    }
    const Result<std::optional<Batch>> end = loader.next();
    ASSERT_TRUE(end.ok());
    EXPECT_FALSE(end.value().has_value());
  }
}

TEST(Loader, DestructionInTheMiddleDoesNotHang) {
  const Fixture data(shapes_jsonl(40));
  for (int i = 0; i < 20; ++i) {
    Loader loader(data.dataset, data.tokenizer, {.batch_size = 2, .workers = 3, .queue = 1});
    if (i % 4 != 0) loader.start(0, 0);
    if (i % 4 > 1) {
      EXPECT_TRUE(loader.next().ok());
    }
    if (i % 4 > 2) loader.start(1, 0);
  }
}

// Kept pictures tell how far the workers went: workers + queue batches, and no further.
TEST(Loader, WorkersStopWhenTheQueueIsFull) {
  const Fixture data(shapes_jsonl(60), {.keep_decoded = true});
  Loader loader(data.dataset, data.tokenizer, {.batch_size = 2, .workers = 3, .queue = 2});
  loader.start(0, 0);
  for (int64_t taken = 0; taken < 4; ++taken) {
    const int64_t expected = (taken + 3 + 2) * 2 * 56 * 56 * 3;
    while (data.dataset.kept_bytes() < expected) std::this_thread::yield();
    // Time enough to go too far.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(data.dataset.kept_bytes(), expected);
    EXPECT_TRUE(loader.next().ok());
  }
}

TEST(Loader, BatchesMadeAheadAreCountedUntilTheyAreTaken) {
  const Fixture data(shapes_jsonl(24));
  ASSERT_EQ(batches_ahead().bytes, 0);
  {
    Loader loader(data.dataset, data.tokenizer, {.batch_size = 2, .workers = 2, .queue = 1});
    loader.start(0, 0);
    while (batches_ahead().bytes == 0) std::this_thread::yield();
    for (int64_t i = 0; i + 3 < loader.batches_per_epoch(); ++i) {
      const Result<std::optional<Batch>> batch = loader.next();
      ASSERT_TRUE(batch.ok());
      EXPECT_GT(batches_ahead().most_bytes, batch.value()->bytes() / 2);
    }
    loader.start(1, 0);
    while (batches_ahead().bytes == 0) std::this_thread::yield();
  }
  EXPECT_EQ(batches_ahead().bytes, 0);
}

TEST(Loader, NextBeforeStartAndImpossibleOptionsAreErrors) {
  const Fixture data(shapes_jsonl(2));
  Loader early(data.dataset, data.tokenizer, {});
  EXPECT_FALSE(early.next().ok());
  for (const LoaderOptions& options : {LoaderOptions{.batch_size = 0}, LoaderOptions{.world = 0},
                                       LoaderOptions{.rank = 2, .world = 2}}) {
    Loader loader(data.dataset, data.tokenizer, options);
    loader.start(0, 0);
    const Result<std::optional<Batch>> batch = loader.next();
    ASSERT_FALSE(batch.ok());
    EXPECT_EQ(batch.error().kind, Error::Kind::usage);
  }
}

// Together the ranks have what one process has with the same global batch, row for row.
TEST(Loader, RanksShareTheGlobalBatch) {
  const Fixture data(shapes_jsonl(14));
  const std::vector<Batch> whole = batches_of(data, {.batch_size = 6});
  std::vector<std::vector<Batch>> ranks;
  for (int64_t rank = 0; rank < 3; ++rank) {
    ranks.push_back(batches_of(data, {.batch_size = 2, .workers = 1, .rank = rank, .world = 3}));
    ASSERT_EQ(ranks.back().size(), whole.size());
  }
  for (size_t i = 0; i < whole.size(); ++i) {
    std::vector<size_t> together;
    for (const std::vector<Batch>& rank : ranks) {
      together.insert(together.end(), rank[i].examples.begin(), rank[i].examples.end());
    }
    EXPECT_EQ(together, whole[i].examples);
  }
  // 14 = 6 + 6 + 2: of the last two rows the third rank has none, and an empty batch all the same.
  EXPECT_EQ(ranks[0].back().rows, 1);
  EXPECT_EQ(ranks[1].back().rows, 1);
  EXPECT_EQ(ranks[2].back().rows, 0);
  EXPECT_TRUE(ranks[2].back().ids.empty());
}

std::string with_bad_lines() {
  return shapes_jsonl(3) + "not json\n" + simple_line("q", "missing.png", "r") + shapes_jsonl(2);
}

TEST(Loader, ABadExampleStopsAtItsPlaceInTheOrder) {
  const Fixture data(with_bad_lines());
  for (const int64_t workers : {0, 3}) {
    Loader loader(data.dataset, data.tokenizer, {.shuffle = false, .workers = workers});
    loader.start(0, 0);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(loader.next().ok());
    const Result<std::optional<Batch>> bad = loader.next();
    ASSERT_FALSE(bad.ok());
    EXPECT_THAT(bad.error().message, HasSubstr("d.jsonl line 4: not JSON"));
    EXPECT_TRUE(loader.skipped().empty());
  }
}

TEST(Loader, BadExamplesAreSkippedAndReportedOnce) {
  const Fixture data(with_bad_lines());
  for (const int64_t workers : {0, 3}) {
    Loader loader(data.dataset, data.tokenizer,
                  {.batch_size = 2, .shuffle = false, .skip_bad = true, .workers = workers});
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      loader.start(epoch, 0);
      std::vector<int64_t> rows;
      while (true) {
        Result<std::optional<Batch>> batch = loader.next();
        ASSERT_TRUE(batch.ok());
        if (!batch.value()) break;
        rows.push_back(batch.value()->rows);
      }
      EXPECT_EQ(rows, (std::vector<int64_t>{2, 1, 1, 1}));
      ASSERT_EQ(loader.skipped().size(), 2U);
      EXPECT_EQ(loader.skipped()[0].index, 3U);
      EXPECT_THAT(loader.skipped()[0].message, HasSubstr("line 4: not JSON"));
      EXPECT_EQ(loader.skipped()[1].index, 4U);
      EXPECT_THAT(loader.skipped()[1].message, HasSubstr("line 5: image 1: no file missing.png"));
    }
  }
}

}  // namespace
}  // namespace plateau::train
