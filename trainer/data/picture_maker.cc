// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/picture_maker.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <string_view>
#include <utility>

#include "trainer/data/split_mix.h"

namespace plateau::train {
namespace {

constexpr int64_t kCell = 28;  // Pixels of a merged token.

struct NamedColour {
  std::string_view name;
  std::array<uint8_t, 3> rgb;
};

constexpr std::array<NamedColour, 6> kColours = {{{"red", {220, 30, 30}},
                                                  {"green", {30, 160, 60}},
                                                  {"blue", {40, 70, 220}},
                                                  {"yellow", {245, 215, 40}},
                                                  {"purple", {150, 50, 180}},
                                                  {"black", {20, 20, 20}}}};
constexpr std::array<std::string_view, 3> kShapes = {"circle", "square", "triangle"};
constexpr std::array<std::string_view, 3> kQuestions = {
    "What is in the picture?", "Which shape, which color, how many?", "Describe the picture."};

// Whether the pixel at (x, y) from the centre is inside; `radius` is half the height.
bool is_inside(size_t shape, int64_t x, int64_t y, int64_t radius) {
  if (shape == 0) return x * x + y * y <= radius * radius;
  if (std::abs(y) > radius) return false;
  if (shape == 1) return std::abs(x) <= radius;
  return 2 * std::abs(x) <= y + radius;  // Its tip is above.
}

struct Drawing {
  size_t shape = 0;
  const NamedColour* colour = nullptr;
  int64_t count = 0;
};

void draw_shape(const Drawing& drawing, int64_t left, int64_t top, SplitMix64& random,
                Picture& picture) {
  const auto radius = static_cast<int64_t>(7 + random.below(4));
  // At least one pixel of the ground stays on every side of the cell.
  const int64_t slack = kCell / 2 - 2 - radius;
  const auto jitter = [&] {
    return static_cast<int64_t>(random.below(static_cast<uint64_t>(2 * slack + 1))) - slack;
  };
  const int64_t centre_x = left + kCell / 2 + jitter();
  const int64_t centre_y = top + kCell / 2 + jitter();
  for (int64_t y = top; y < top + kCell; ++y) {
    for (int64_t x = left; x < left + kCell; ++x) {
      if (!is_inside(drawing.shape, x - centre_x, y - centre_y, radius)) continue;
      std::ranges::copy(drawing.colour->rgb, picture.rgb.begin() + (y * picture.width + x) * 3);
    }
  }
}

Picture draw(const Drawing& drawing, int64_t side, SplitMix64& random) {
  Picture picture{.height = side, .width = side};
  const auto ground = static_cast<uint8_t>(225 + random.below(31));
  picture.rgb.assign(static_cast<size_t>(side * side * 3), ground);
  // Cells without repetition: the first `count` of a shuffled list.
  const int64_t across = side / kCell;
  std::vector<int64_t> cells(static_cast<size_t>(across * across));
  std::iota(cells.begin(), cells.end(), int64_t{0});
  for (int64_t i = 0; i < drawing.count; ++i) {
    const uint64_t other = random.below(cells.size() - static_cast<uint64_t>(i));
    std::swap(cells[static_cast<size_t>(i)], cells[static_cast<size_t>(i) + other]);
    const int64_t cell = cells[static_cast<size_t>(i)];
    draw_shape(drawing, cell % across * kCell, cell / across * kCell, random, picture);
  }
  return picture;
}

}  // namespace

Result<ShapeExample> make_shape_example(uint64_t seed, const ShapeOptions& options) {
  if (options.side < kCell || options.side % kCell != 0 || options.most_shapes < 1) {
    return Error{Error::Kind::usage, "pictures of shapes need sides of 28 pixels or a multiple"};
  }
  SplitMix64 random(seed);
  const int64_t across = options.side / kCell;
  const int64_t most = std::min(options.most_shapes, across * across);
  Drawing drawing;
  drawing.shape = random.below(kShapes.size());
  drawing.colour = &kColours[random.below(kColours.size())];
  drawing.count = static_cast<int64_t>(1 + random.below(static_cast<uint64_t>(most)));

  ShapeExample example;
  example.question = kQuestions[random.below(kQuestions.size())];
  example.answer = R"({"shape": ")" + std::string(kShapes[drawing.shape]) + R"(", "color": ")" +
                   std::string(drawing.colour->name) + R"(", "count": )" +
                   std::to_string(drawing.count) + "}";
  example.format =
      options.format.value_or(seed % 2 == 0 ? PictureFormat::png : PictureFormat::jpeg);
  example.pixels = draw(drawing, options.side, random);
  Result<std::vector<std::byte>> bytes = encode_picture(example.pixels, example.format);
  if (!bytes) return bytes.error();
  example.picture = std::move(bytes.value());
  return example;
}

std::string extension_of(PictureFormat format) {
  switch (format) {
    case PictureFormat::jpeg:
      return "jpg";
    case PictureFormat::webp:
      return "webp";
    case PictureFormat::png:
      break;
  }
  return "png";
}

}  // namespace plateau::train
