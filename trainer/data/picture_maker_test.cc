// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/picture_maker.h"

#include <set>

namespace plateau::train {
namespace {

ShapeExample made(uint64_t seed, const ShapeOptions& options = {}) {
  Result<ShapeExample> example = make_shape_example(seed, options);
  EXPECT_TRUE(example.ok());
  return std::move(example.value());
}

// Groups of touching pixels that are not of the ground.
int shapes_in(Picture picture) {
  int count = 0;
  const uint8_t ground = picture.rgb[0];
  const auto is_ground = [&](int64_t at) {
    if (at < 0 || at >= picture.height * picture.width) return true;
    return picture.rgb[static_cast<size_t>(3 * at)] == ground &&
           picture.rgb[static_cast<size_t>(3 * at + 1)] == ground;
  };
  for (int64_t start = 0; start < picture.height * picture.width; ++start) {
    if (is_ground(start)) continue;
    ++count;
    std::vector<int64_t> waiting = {start};
    while (!waiting.empty()) {
      const int64_t at = waiting.back();
      waiting.pop_back();
      if (is_ground(at)) continue;
      for (size_t c = 0; c < 3; ++c) picture.rgb[static_cast<size_t>(3 * at) + c] = ground;
      for (const int64_t step : {-picture.width, int64_t{-1}, int64_t{1}, picture.width}) {
        waiting.push_back(at + step);
      }
    }
  }
  return count;
}

TEST(PictureMaker, TheSeedIsTheExample) {
  EXPECT_EQ(made(7).picture, made(7).picture);
  EXPECT_EQ(made(7).answer, made(7).answer);
  EXPECT_NE(made(7).picture, made(8).picture);
}

// A dataset that was generated once must be the same everywhere, for ever.
TEST(PictureMaker, KnownSeedsGiveKnownAnswers) {
  EXPECT_EQ(made(0).answer, R"({"shape": "square", "color": "red", "count": 2})");
  EXPECT_EQ(made(1).answer, R"({"shape": "triangle", "color": "green", "count": 1})");
}

TEST(PictureMaker, TheAnswerCountsTheShapesOfThePicture) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const ShapeExample example = made(seed, {.format = PictureFormat::png});
    const std::string count = std::to_string(shapes_in(example.pixels));
    EXPECT_TRUE(example.answer.ends_with("\"count\": " + count + "}"))
        << example.answer << " has " << count;
  }
}

TEST(PictureMaker, AllAnswersOccur) {
  std::set<std::string> answers;
  for (uint64_t seed = 0; seed < 2000; ++seed) answers.insert(made(seed).answer);
  EXPECT_EQ(answers.size(), 3U * 6 * 3);
}

TEST(PictureMaker, PicturesDecodeToWhatWasDrawn) {
  for (const PictureFormat format :
       {PictureFormat::png, PictureFormat::webp, PictureFormat::jpeg}) {
    const ShapeExample example = made(3, {.side = 56, .format = format});
    const Result<Picture> picture = decode_picture(example.picture, extension_of(format));
    ASSERT_TRUE(picture.ok()) << picture.error().message;
    EXPECT_EQ(picture.value().width, 56);
    EXPECT_EQ(picture.value().rgb == example.pixels.rgb, format != PictureFormat::jpeg);
  }
}

TEST(PictureMaker, SidesThatAreNoWholeTokensAreRefused) {
  EXPECT_FALSE(make_shape_example(1, {.side = 50}).ok());
  EXPECT_FALSE(make_shape_example(1, {.side = 0}).ok());
}

}  // namespace
}  // namespace plateau::train
