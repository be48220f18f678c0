// SPDX-License-Identifier: Apache-2.0
#include "trainer/image/patches.h"

#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>

namespace plateau::train {
namespace {

using testing::HasSubstr;

// The stored cases of the Python processor are safetensors: a length, a JSON header, the data.
class StoredCase {
 public:
  explicit StoredCase(const std::string& name) {
    std::ifstream file(PLATEAU_SOURCE_DIR "/trainer/testdata/image-processor/" + name,
                       std::ios::binary);
    EXPECT_TRUE(file) << name;
    std::stringstream text;
    text << file.rdbuf();
    file_ = std::move(text).str();
    uint64_t size = 0;
    std::memcpy(&size, file_.data(), sizeof size);
    data_ = sizeof size + size;
  }
  template <typename T>
  [[nodiscard]] std::vector<T> values(const std::string& tensor) const {
    size_t at = file_.find("data_offsets\": [", file_.find("\"" + tensor + "\"")) + 16;
    const size_t begin = std::stoull(file_.substr(at));
    at = file_.find(',', at) + 1;
    const size_t end = std::stoull(file_.substr(at));
    std::vector<T> out((end - begin) / sizeof(T));
    std::memcpy(out.data(), file_.data() + data_ + begin, end - begin);
    return out;
  }

 private:
  std::string file_;
  size_t data_ = 0;
};

// Both frames of every stored row against our one; the largest difference.
float largest_difference(const StoredCase& stored, PictureSize size) {
  const ProcessorOptions options{.min_pixels = 56 * 56, .max_pixels = 28 * 28 * 64};
  const Picture picture{
      .height = size.height, .width = size.width, .rgb = stored.values<uint8_t>("image")};
  const Result<Patches> patches = make_patches(picture, options, "x");
  if (!patches) {
    ADD_FAILURE() << patches.error().message;
    return NAN;
  }
  const Grid grid = patches.value().grid;
  EXPECT_EQ((std::vector<int64_t>{grid.frames, grid.height, grid.width}),
            stored.values<int64_t>("image_grid_thw"));
  const std::vector<float> expected = stored.values<float>("pixel_values");
  const std::vector<float>& ours = patches.value().values;
  EXPECT_EQ(expected.size(), ours.size() * 2);
  float largest = 0;
  for (size_t i = 0; i < std::min(ours.size(), expected.size() / 2); ++i) {
    const size_t row = i / 588;
    const size_t channel = i % 588 / 196;
    const size_t at = row * 1176 + channel * 392 + i % 196;
    largest = std::max(largest, std::abs(ours[i] - expected[at]));
    largest = std::max(largest, std::abs(ours[i] - expected[at + 196]));
  }
  return largest;
}

TEST(Patches, EqualTheStoredOnesOfThePythonProcessor) {
  EXPECT_EQ(largest_difference(StoredCase("noresize.safetensors"), {140, 224}), 0.0F);
  EXPECT_EQ(largest_difference(StoredCase("resized.safetensors"), {150, 230}), 0.0F);
}

TEST(Patches, ComeInBlocksThatMergeToOneToken) {
  // A picture whose red is the number of the patch, row by row: 4 x 4 patches.
  Picture picture{.height = 56, .width = 56};
  for (int64_t i = 0; i < 56 * 56; ++i) {
    const int64_t patch = i / 56 / 14 * 4 + i % 56 / 14;
    for (const int64_t value : {patch * 10, int64_t{0}, int64_t{0}}) {
      picture.rgb.push_back(static_cast<uint8_t>(value));
    }
  }
  const Result<Patches> patches = make_patches(picture, {}, "x");
  ASSERT_TRUE(patches.ok());
  EXPECT_EQ(patches.value().grid.tokens(2), 4);
  std::vector<int64_t> order;
  for (size_t row = 0; row < 16; ++row) {
    const float red = patches.value().values[row * 588];
    order.push_back(std::lround((red * 0.26862954F + 0.48145466F) * 255.0F) / 10);
  }
  EXPECT_EQ(order, (std::vector<int64_t>{0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15}));
}

std::pair<int64_t, int64_t> resized(int64_t height, int64_t width, int64_t max_pixels) {
  const Result<PictureSize> size = smart_resize({height, width}, {.max_pixels = max_pixels}, "x");
  if (!size) return {-1, -1};
  return {size.value().height, size.value().width};
}

TEST(SmartResize, GivesThePythonSizes) {
  constexpr int64_t kHub = 12845056;
  constexpr int64_t kClass = 1003520;
  using Sides = std::pair<int64_t, int64_t>;
  EXPECT_EQ(resized(1000, 1000, kHub), Sides(1008, 1008));
  EXPECT_EQ(resized(1000, 1000, kClass), Sides(980, 980));
  EXPECT_EQ(resized(70, 70, kHub), Sides(56, 56));
  EXPECT_EQ(resized(42, 98, kHub), Sides(56, 112));
  EXPECT_EQ(resized(10, 10, kHub), Sides(56, 56));
  EXPECT_EQ(resized(13, 500, kHub), Sides(28, 364));
  EXPECT_EQ(resized(1, 100, kHub), Sides(28, 560));
  EXPECT_EQ(resized(4000, 3000, kHub), Sides(4004, 2996));
  EXPECT_EQ(resized(4000, 3000, kClass), Sides(1148, 840));
}

TEST(SmartResize, AnAspectAbove200IsAnErrorThatNamesThePicture) {
  EXPECT_TRUE(smart_resize({10, 2000}, {}, "x").ok());
  const Result<PictureSize> long_strip = smart_resize({10, 2001}, {}, "strip.png");
  ASSERT_FALSE(long_strip.ok());
  EXPECT_THAT(long_strip.error().message, HasSubstr("strip.png: 2001 x 10 pixels"));
  EXPECT_FALSE(smart_resize({0, 5}, {}, "x").ok());
}

TEST(SmartResize, NoPixelsAtAllIsAnErrorWhereNoMinimumForbidsIt) {
  EXPECT_FALSE(smart_resize({10, 10}, {.min_pixels = 0}, "x").ok());
}

RC_GTEST_PROP(SmartResize, SidesAreWholeTokensWithinTheLimits, ()) {
  const int64_t height = *rc::gen::inRange<int64_t>(1, 6000);
  const int64_t width = *rc::gen::inRange<int64_t>((height + 199) / 200, 6000);
  RC_PRE(width <= height * 200);
  const ProcessorOptions options{.max_pixels = 1003520};
  const Result<PictureSize> size = smart_resize({height, width}, options, "x");
  RC_ASSERT(size.ok());
  RC_ASSERT(size.value().height % 28 == 0 && size.value().width % 28 == 0);
  RC_ASSERT(size.value().height * size.value().width <= options.max_pixels);
  RC_ASSERT(size.value().height * size.value().width >= options.min_pixels);
}

}  // namespace
}  // namespace plateau::train
