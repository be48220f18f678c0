// SPDX-License-Identifier: Apache-2.0
#include "trainer/image/patches.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "trainer/image/normalise.h"

namespace plateau::train {
namespace {

constexpr double kMaxAspect = 200.0;

// Python's round: halves go to the even neighbour.
double round_half_even(double x) {
  const double below = std::floor(x);
  const double rest = x - below;
  if (rest != 0.5) return rest < 0.5 ? below : below + 1;
  return std::fmod(below, 2.0) == 0.0 ? below : below + 1;
}

int64_t whole(double factors, int64_t factor) {
  return static_cast<int64_t>(factors) * factor;
}

// What each byte of each channel becomes, in the processor's own steps: the byte times 1/255 in
// double, rounded to float; then mean and deviation in float.
std::array<std::array<float, 256>, 3> normalised_bytes() {
  std::array<std::array<float, 256>, 3> table{};
  for (size_t channel = 0; channel < 3; ++channel) {
    for (size_t value = 0; value < 256; ++value) {
      const auto scaled = static_cast<float>(static_cast<double>(value) * (1.0 / 255.0));
      table[channel][value] = (scaled - kPictureMean[channel]) / kPictureDeviation[channel];
    }
  }
  return table;
}

// Appends the patch whose upper left pixel is at (top, left).
void append_patch(const Picture& picture, int64_t top, int64_t left, int64_t patch_size,
                  const std::array<std::array<float, 256>, 3>& table, std::vector<float>& out) {
  for (int64_t channel = 0; channel < 3; ++channel) {
    const std::array<float, 256>& values = table[static_cast<size_t>(channel)];
    for (int64_t y = top; y < top + patch_size; ++y) {
      const uint8_t* pixel = picture.rgb.data() + (y * picture.width + left) * 3 + channel;
      for (int64_t x = 0; x < patch_size; ++x, pixel += 3) out.push_back(values[*pixel]);
    }
  }
}

}  // namespace

Result<PictureSize> smart_resize(PictureSize size, const ProcessorOptions& options,
                                 const std::string& name) {
  const auto height = static_cast<double>(size.height);
  const auto width = static_cast<double>(size.width);
  const int64_t factor = options.patch_size * options.merge_size;
  const auto side = static_cast<double>(factor);
  const std::string sides = std::to_string(size.width) + " x " + std::to_string(size.height);
  if (size.height < 1 || size.width < 1 ||
      std::max(height, width) / std::min(height, width) > kMaxAspect) {
    return Error{Error::Kind::bad_input,
                 name + ": " + sides + " pixels; one side may be at most 200 times the other"};
  }

  PictureSize resized{.height = whole(round_half_even(height / side), factor),
                      .width = whole(round_half_even(width / side), factor)};
  const int64_t pixels = resized.height * resized.width;
  if (pixels > options.max_pixels) {
    const double beta = std::sqrt(height * width / static_cast<double>(options.max_pixels));
    resized.height = std::max(factor, whole(std::floor(height / beta / side), factor));
    resized.width = std::max(factor, whole(std::floor(width / beta / side), factor));
  } else if (pixels < options.min_pixels) {
    const double beta = std::sqrt(static_cast<double>(options.min_pixels) / (height * width));
    resized.height = whole(std::ceil(height * beta / side), factor);
    resized.width = whole(std::ceil(width * beta / side), factor);
  }
  if (resized.height < factor || resized.width < factor) {
    return Error{Error::Kind::bad_input, name + ": " + sides + " pixels are too few for one token"};
  }
  return resized;
}

Grid grid_of(PictureSize resized, const ProcessorOptions& options) {
  return {.frames = 1,
          .height = resized.height / options.patch_size,
          .width = resized.width / options.patch_size};
}

Result<Grid> append_patches(const Picture& picture, const ProcessorOptions& options,
                            const std::string& name, std::vector<float>& values) {
  const Result<PictureSize> size =
      smart_resize({.height = picture.height, .width = picture.width}, options, name);
  if (!size) return size.error();
  const bool is_fitting =
      size.value().height == picture.height && size.value().width == picture.width;
  const Picture resized =
      is_fitting ? Picture{} : resize_bicubic(picture, size.value().height, size.value().width);
  const Picture& source = is_fitting ? picture : resized;

  static const std::array<std::array<float, 256>, 3> table = normalised_bytes();
  const Grid grid = grid_of(size.value(), options);
  const auto added =
      static_cast<size_t>(grid.patches() * 3 * options.patch_size * options.patch_size);
  values.reserve(values.size() + added);
  const int64_t block = options.patch_size * options.merge_size;
  for (int64_t top = 0; top < source.height; top += block) {
    for (int64_t left = 0; left < source.width; left += block) {
      for (int64_t y = top; y < top + block; y += options.patch_size) {
        for (int64_t x = left; x < left + block; x += options.patch_size) {
          append_patch(source, y, x, options.patch_size, table, values);
        }
      }
    }
  }
  return grid;
}

Result<Patches> make_patches(const Picture& picture, const ProcessorOptions& options,
                             const std::string& name) {
  Patches patches;
  const Result<Grid> grid = append_patches(picture, options, name, patches.values);
  if (!grid) return grid.error();
  patches.grid = grid.value();
  return patches;
}

}  // namespace plateau::train
