// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/packs.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>

#include "trainer/data/data_for_test.h"
#include "trainer/data/loader.h"

namespace plateau::train {
namespace {

std::vector<size_t> row_of(const Packs& packs, size_t row) {
  return {packs.row(row).begin(), packs.row(row).end()};
}

TEST(Packs, EachExampleGoesWhereItFillsMost) {
  const Packs packs = make_packs({2, 6, 4, 5, 3}, 10, 42);
  ASSERT_EQ(packs.rows(), 2U);
  EXPECT_EQ(row_of(packs, 0), (std::vector<size_t>{1, 2}));
  EXPECT_EQ(row_of(packs, 1), (std::vector<size_t>{3, 4, 0}));
  EXPECT_EQ(make_packs({}, 10, 42).rows(), 0U);
}

RC_GTEST_PROP(Packs, HoldEveryExampleOnceAndNoRowIsTooLong, (uint64_t seed)) {
  const auto tokens = *rc::gen::container<std::vector<int64_t>>(rc::gen::inRange<int64_t>(0, 101));
  const Packs packs = make_packs(tokens, 100, seed);
  std::vector<size_t> seen = packs.examples;
  std::ranges::sort(seen);
  RC_ASSERT(seen == epoch_order(tokens.size(), seed, 0, false));
  int64_t all = 0;
  for (size_t row = 0; row < packs.rows(); ++row) {
    RC_ASSERT(!packs.row(row).empty());
    int64_t sum = 0;
    for (const size_t example : packs.row(row)) sum += tokens[example];
    RC_ASSERT(sum <= 100);
    all += sum;
  }
  // All rows but one are more than half full.
  RC_ASSERT(packs.rows() <= static_cast<size_t>(2 * all / 100 + 1));
}

class PackedLoader : public testing::Test {
 protected:
  PackedLoader() {
    Result<Dataset> opened = Dataset::open(folder_.write("d.jsonl", shapes_jsonl(11)), {});
    dataset_ = std::make_unique<Dataset>(std::move(opened.value()));
    std::vector<BadExample> bad;
    std::vector<int64_t> tokens;
    for (size_t i = 0; i < dataset_->size(); ++i) {
      alone_.push_back(collate(*dataset_, tokenizer_, {}, {i}, bad).value());
      tokens.push_back(alone_.back().tokens);
      options_.max_seq_length = std::max(options_.max_seq_length, tokens.back());
    }
    options_.max_seq_length = *std::ranges::max_element(tokens) * 3;
    options_.packs = std::make_shared<const Packs>(make_packs(tokens, options_.max_seq_length, 42));
  }
  std::vector<Batch> batches(const LoaderOptions& options, int64_t epoch = 0, int64_t first = 0) {
    Loader loader(*dataset_, tokenizer_, options);
    loader.start(epoch, first);
    std::vector<Batch> out;
    for (auto batch = loader.next(); batch.ok() && batch.value(); batch = loader.next()) {
      out.push_back(std::move(*batch.value()));
    }
    EXPECT_EQ(static_cast<int64_t>(out.size()) + first, loader.batches_per_epoch());
    return out;
  }

  ScratchDirectory folder_;
  Tokenizer tokenizer_ = small_tokenizer();
  std::unique_ptr<Dataset> dataset_;
  std::vector<Batch> alone_;
  LoaderOptions options_;
};

TEST_F(PackedLoader, ARowIsItsExamplesOneAfterTheOther) {
  for (const Batch& batch : batches(options_)) {
    ASSERT_EQ(batch.rows, 1);
    Batch expected;
    for (const size_t example : batch.examples) {
      const Batch& one = alone_[example];
      if (!expected.ids.empty()) {
        expected.starts.push_back(static_cast<int64_t>(expected.ids.size()));
      }
      expected.ids.insert(expected.ids.end(), one.ids.begin(), one.ids.end());
      expected.labels.insert(expected.labels.end(), one.labels.begin(), one.labels.end());
      expected.patches.insert(expected.patches.end(), one.patches.begin(), one.patches.end());
      expected.labelled += one.labelled;
    }
    EXPECT_GE(batch.examples.size(), 2U);
    EXPECT_LE(batch.columns, options_.max_seq_length);
    EXPECT_EQ(batch.ids, expected.ids);
    EXPECT_EQ(batch.labels, expected.labels);
    EXPECT_EQ(batch.starts, expected.starts);
    EXPECT_EQ(batch.patches, expected.patches);
    EXPECT_EQ(batch.labelled, expected.labelled);
    EXPECT_EQ(batch.tokens, batch.columns);
  }
}

TEST_F(PackedLoader, EveryEpochHasEveryExampleOnceInTheSameNumberOfBatches) {
  options_.batch_size = 2;
  options_.workers = 2;
  std::vector<std::vector<size_t>> orders;
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    std::vector<size_t> seen;
    for (const Batch& batch : batches(options_, epoch)) {
      seen.insert(seen.end(), batch.examples.begin(), batch.examples.end());
    }
    orders.push_back(seen);
    std::ranges::sort(seen);
    EXPECT_EQ(seen, epoch_order(11, 42, 0, false));
  }
  EXPECT_FALSE(orders[0] == orders[1] && orders[1] == orders[2]);
}

TEST_F(PackedLoader, StartsAtAnyBatchAsOneThatNeverStopped) {
  const std::vector<Batch> whole = batches(options_, 1);
  ASSERT_GE(whole.size(), 3U);
  const std::vector<Batch> rest = batches(options_, 1, 2);
  ASSERT_EQ(rest.size() + 2, whole.size());
  for (size_t i = 0; i < rest.size(); ++i) {
    EXPECT_EQ(rest[i].examples, whole[i + 2].examples);
    EXPECT_EQ(rest[i].ids, whole[i + 2].ids);
  }
}

TEST_F(PackedLoader, RanksShareTheRows) {
  options_.batch_size = 2;
  const std::vector<Batch> whole = batches(options_);
  options_.batch_size = 1;
  options_.world = 2;
  std::vector<std::vector<Batch>> ranks;
  for (options_.rank = 0; options_.rank < 2; ++options_.rank) ranks.push_back(batches(options_));
  for (size_t i = 0; i < whole.size(); ++i) {
    std::vector<size_t> together = ranks[0][i].examples;
    together.insert(together.end(), ranks[1][i].examples.begin(), ranks[1][i].examples.end());
    EXPECT_EQ(together, whole[i].examples);
  }
}

}  // namespace
}  // namespace plateau::train
