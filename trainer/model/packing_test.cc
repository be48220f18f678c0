// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/packing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>

#include "trainer/model/qwen.h"
#include "trainer/model/vision_plan.h"

namespace plateau::train {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

constexpr int64_t kPicture = 90;
constexpr int64_t kVideo = 91;

ModelConfig small_config(int64_t merge) {
  ModelConfig config;
  config.vocab_size = 100;
  config.image_token = kPicture;
  config.video_token = kVideo;
  config.vision.merge_size = merge;
  return config;
}

Batch batch_of(std::vector<int64_t> ids, std::vector<Grid> grids, int64_t rows = 1) {
  Batch batch;
  batch.rows = rows;
  batch.columns = static_cast<int64_t>(ids.size()) / rows;
  batch.labels.assign(ids.size(), kNoLabel);
  batch.mask.assign(ids.size(), 1);
  batch.ids = std::move(ids);
  batch.grids = std::move(grids);
  int64_t patches = 0;
  for (const Grid& grid : batch.grids) {
    patches += grid.patches();
  }
  batch.patches.assign(static_cast<size_t>(patches * batch.patch_values), 0.0F);
  return batch;
}

std::vector<int64_t> picture_between(int64_t count, int64_t token) {
  std::vector<int64_t> ids(static_cast<size_t>(count) + 2, token);
  ids.front() = 1;
  ids.back() = 1;
  return ids;
}

TEST(RopePositions, APictureSpreadsOverHeightAndWidth) {
  const Batch batch = batch_of(picture_between(12, kPicture), {{1, 4, 3}});
  const std::vector<int64_t> expected = {0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 5,   //
                                         0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5,   //
                                         0, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 5};  //
  EXPECT_EQ(rope_positions(small_config(1), batch), expected);
}

TEST(RopePositions, FramesOfAVideoAreSpacedInTime) {
  Batch batch = batch_of(picture_between(4, kVideo), {{4, 2, 2}});
  batch.seconds_per_grid = {0.8};
  const std::vector<int64_t> out = rope_positions(small_config(2), batch);
  // 0, 1.6, 3.2 and 4.8, cut to integers, and text goes on after the largest.
  EXPECT_THAT(std::vector<int64_t>(out.begin(), out.begin() + 6), ElementsAre(0, 1, 2, 4, 5, 6));
}

TEST(RopePositions, PaddingIsOneAndDoesNotCount) {
  Batch batch = batch_of({0, 0, 5, 6, 7, 8, 9, 0}, {}, 2);
  batch.mask = {0, 0, 1, 1, 1, 1, 1, 0};
  const std::vector<int64_t> out = rope_positions(small_config(2), batch);
  EXPECT_THAT(std::vector<int64_t>(out.begin(), out.begin() + 8),
              ElementsAre(1, 1, 0, 1, 0, 1, 2, 1));
}

TEST(VisionPlan, WindowsOfATenByTenGridHaveSmallOnesAtTheEdge) {
  VisionConfig vision;
  vision.merge_size = 2;
  const VisionPlan plan = plan_vision(vision, {{1, 10, 10}});
  std::vector<int64_t> order = {0,  1,  2,  3,  5,  6,  7, 8, 10, 11,
                                12, 13, 15, 16, 17, 18, 4, 9, 14, 19};
  for (int64_t last = 20; last < 25; ++last) {
    order.push_back(last);
  }
  EXPECT_EQ(plan.window_order, order);
  EXPECT_THAT(plan.window_bounds, ElementsAre(0, 64, 80, 96, 100));
  EXPECT_THAT(plan.frame_bounds, ElementsAre(0, 100));
}

TEST(VisionPlan, AGridThatFillsItsWindowHasNoEmptyOnes) {
  const VisionPlan plan = plan_vision(VisionConfig{}, {{1, 8, 8}});
  EXPECT_THAT(plan.window_bounds, ElementsAre(0, 64));
  EXPECT_TRUE(std::is_sorted(plan.window_order.begin(), plan.window_order.end()));
}

TEST(VisionPlan, PicturesFollowEachOther) {
  const VisionPlan plan = plan_vision(VisionConfig{}, {{1, 8, 12}, {1, 4, 4}});
  EXPECT_THAT(plan.window_bounds, ElementsAre(0, 64, 96, 112));
  EXPECT_THAT(plan.frame_bounds, ElementsAre(0, 96, 112));
}

TEST(VisionPlan, PositionsGoBlockByBlock) {
  const VisionPlan plan = plan_vision(VisionConfig{}, {{1, 4, 4}});
  EXPECT_THAT(plan.rows, ElementsAre(0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3));
  EXPECT_THAT(plan.columns, ElementsAre(0, 1, 0, 1, 2, 3, 2, 3, 0, 1, 0, 1, 2, 3, 2, 3));
}

RC_GTEST_PROP(VisionPlan, WindowOrderIsAPermutationAndBoundsAscend, ()) {
  std::vector<Grid> grids;
  for (int i = *rc::gen::inRange(1, 4); i > 0; --i) {
    grids.push_back(
        {*rc::gen::inRange(1, 4), 2 * *rc::gen::inRange(1, 14), 2 * *rc::gen::inRange(1, 14)});
  }
  const VisionPlan plan = plan_vision(VisionConfig{}, grids);
  std::vector<int64_t> sorted = plan.window_order;
  std::sort(sorted.begin(), sorted.end());
  std::vector<int64_t> all(sorted.size());
  std::iota(all.begin(), all.end(), 0);
  RC_ASSERT(sorted == all);
  RC_ASSERT(plan.rows.size() == 4 * all.size());
  for (const auto* bounds : {&plan.window_bounds, &plan.frame_bounds}) {
    RC_ASSERT(bounds->back() == static_cast<int64_t>(plan.rows.size()));
    RC_ASSERT(std::adjacent_find(bounds->begin(), bounds->end(), std::greater_equal<>()) ==
              bounds->end());
  }
}

TEST(Packing, LabelsAreThoseOfTheNextToken) {
  Batch batch = batch_of({5, 6, 7, 0, 8, 9, 4, 3}, {}, 2);
  batch.mask = {1, 1, 1, 0, 1, 1, 1, 1};
  batch.labels = {5, -100, 7, -100, -100, 9, -100, 3};
  const auto packed = pack_batch(small_config(2), batch);
  ASSERT_TRUE(packed.ok());
  EXPECT_THAT(packed.value().ids, ElementsAre(5, 6, 7, 8, 9, 4, 3));
  EXPECT_THAT(packed.value().row_bounds, ElementsAre(0, 3, 7));
  EXPECT_THAT(packed.value().predictors, ElementsAre(1, 3, 5));
  EXPECT_THAT(packed.value().targets, ElementsAre(7, 9, 3));
}

TEST(RopePositions, StartAnewForEachExampleOfARow) {
  // Two examples of a picture between texts, in one row.
  std::vector<int64_t> ids = picture_between(2, kPicture);
  ids.insert(ids.end(), ids.begin(), ids.begin() + 4);
  Batch batch = batch_of(ids, {{1, 2, 4}, {1, 2, 4}});
  batch.starts = {4};
  const std::vector<int64_t> expected = {0, 1, 1, 3, 0, 1, 1, 3,   //
                                         0, 1, 1, 3, 0, 1, 1, 3,   //
                                         0, 1, 2, 3, 0, 1, 2, 3};  //
  EXPECT_EQ(rope_positions(small_config(2), batch), expected);
}

TEST(Packing, TheFirstTokenOfAnExampleIsPredictedByNone) {
  Batch batch = batch_of({5, 6, 7, 8, 9, 4}, {});
  batch.labels = {5, 6, 7, 8, 9, 4};
  batch.starts = {2, 5};
  const auto packed = pack_batch(small_config(2), batch);
  ASSERT_TRUE(packed.ok());
  EXPECT_THAT(packed.value().row_bounds, ElementsAre(0, 2, 5, 6));
  EXPECT_THAT(packed.value().predictors, ElementsAre(0, 2, 3));
  EXPECT_THAT(packed.value().targets, ElementsAre(6, 8, 9));
}

TEST(Packing, ExamplesThatBeginNowhereAreErrors) {
  for (const std::vector<int64_t>& starts :
       {std::vector<int64_t>{0}, {3, 2}, {2, 2}, {6}, {-1}, {5}}) {
    Batch batch = batch_of({5, 6, 7, 8, 9, 4}, {});
    batch.mask.back() = 0;
    batch.starts = starts;
    const auto packed = pack_batch(small_config(2), batch);
    ASSERT_FALSE(packed.ok());
    EXPECT_THAT(packed.error().message, HasSubstr("that share a row"));
  }
}

TEST(Packing, IdsAndLabelsOutOfRangeAreErrors) {
  const auto large = pack_batch(small_config(2), batch_of({1, 100}, {}));
  ASSERT_FALSE(large.ok());
  EXPECT_THAT(large.error().message, HasSubstr("token id 100"));
  EXPECT_FALSE(pack_batch(small_config(2), batch_of({1, -1}, {})).ok());
  Batch batch = batch_of({1, 2}, {});
  batch.labels = {-100, 100};
  EXPECT_FALSE(pack_batch(small_config(2), batch).ok());
}

TEST(Packing, ImageTokensMustBeThoseOfThePictures) {
  const ModelConfig config = small_config(2);
  EXPECT_TRUE(pack_batch(config, batch_of(picture_between(4, kPicture), {{1, 4, 4}})).ok());
  const auto cut = pack_batch(config, batch_of(picture_between(3, kPicture), {{1, 4, 4}}));
  ASSERT_FALSE(cut.ok());
  EXPECT_THAT(cut.error().message, HasSubstr("has only 3 image tokens"));
  EXPECT_FALSE(pack_batch(config, batch_of(picture_between(5, kPicture), {{1, 4, 4}})).ok());
  EXPECT_FALSE(pack_batch(config, batch_of({1, 2, 3}, {{1, 4, 4}})).ok());
  EXPECT_FALSE(pack_batch(config, batch_of(picture_between(3, kPicture), {{1, 3, 4}})).ok());
}

TEST(Packing, PatchesMustFillTheGrids) {
  Batch batch = batch_of(picture_between(4, kPicture), {{1, 4, 4}});
  batch.patches.pop_back();
  EXPECT_FALSE(pack_batch(small_config(2), batch).ok());
  batch.patches.clear();
  batch.grids.clear();
  EXPECT_FALSE(pack_batch(small_config(2), batch).ok());
}

}  // namespace
}  // namespace plateau::train
