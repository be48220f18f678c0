// SPDX-License-Identifier: Apache-2.0
// Bicubic resizing, equal to Pillow's to the bit: the model was trained on what Pillow makes, and
// other libraries' bicubic is another filter (a = -0.75), or not antialiased, or computed in float.
//
// Method: every output column is a weighted sum of input columns under a cubic window (a = -0.5)
// that is two input pixels wide to each side, or two output pixels when shrinking. Weights are
// computed in double, divided by their sum, and rounded to 22 fractional bits; the sum is rounded
// and cut to 0..255. Then the same for rows, on those 8-bit results. A direction whose size does
// not change is left alone: its window would be the identity, but Pillow does not pass over it.
//
// Worked case: 4 pixels to 2. Scale 2, window +-4 input pixels, centre of output 0 at 1.0. Pixels
// 0..3 stand at -0.25, 0.25, 0.75, 1.25 output pixels from it: cubic 0.867, 0.867, 0.227, -0.070;
// divided by their sum 1.891: 0.459, 0.459, 0.120, -0.037.
//
// Sums fit 32 bits: weights of one pixel add up to 2^22, negative lobes at most double the absolute
// sum, and values are below 2^8.
#include <algorithm>
#include <cmath>
#include <vector>

#include "trainer/image/picture.h"

namespace plateau::train {
namespace {

constexpr int kFractionBits = 22;
constexpr int32_t kHalf = 1 << (kFractionBits - 1);
constexpr double kCubicReach = 2.0;

double cubic(double x) {
  constexpr double kA = -0.5;
  x = std::abs(x);
  if (x < 1.0) return ((kA + 2.0) * x - (kA + 3.0)) * x * x + 1;
  if (x < 2.0) return (((x - 5) * x + 8) * x - 4) * kA;
  return 0.0;
}

// The first pixel whose middle is not before `edge`, and not one before the picture.
int64_t pixel_from(double edge) {
  const double moved = edge + 0.5;
  return std::max<int64_t>(static_cast<int64_t>(moved), 0);
}

// Of one output pixel: input pixels from `first` on, `count` of them.
struct Window {
  int64_t first = 0;
  int64_t count = 0;
  size_t weights = 0;  // Where its weights begin.
};

struct Windows {
  std::vector<Window> of;
  std::vector<int32_t> weights;
};

Windows windows_between(int64_t in, int64_t out) {
  const double scale = static_cast<double>(in) / static_cast<double>(out);
  const double spread = std::max(scale, 1.0);
  const double reach = kCubicReach * spread;
  const double shrink = 1.0 / spread;
  Windows windows;
  std::vector<double> exact;
  for (int64_t i = 0; i < out; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * scale;
    Window window;
    window.first = pixel_from(centre - reach);
    window.count = std::min(pixel_from(centre + reach), in) - window.first;
    window.weights = windows.weights.size();
    exact.clear();
    double sum = 0.0;
    for (int64_t k = 0; k < window.count; ++k) {
      exact.push_back(cubic((static_cast<double>(k + window.first) - centre + 0.5) * shrink));
      sum += exact.back();
    }
    for (const double weight : exact) {
      const double fixed = (sum != 0.0 ? weight / sum : weight) * (1 << kFractionBits);
      windows.weights.push_back(static_cast<int32_t>(fixed < 0 ? fixed - 0.5 : fixed + 0.5));
    }
    windows.of.push_back(window);
  }
  return windows;
}

uint8_t clipped(int32_t sum) {
  return static_cast<uint8_t>(std::clamp(sum >> kFractionBits, 0, 255));
}

Picture resize_columns(const Picture& in, int64_t width) {
  const Windows windows = windows_between(in.width, width);
  Picture out{.height = in.height, .width = width};
  out.rgb.resize(static_cast<size_t>(out.height * out.width * 3));
  uint8_t* to = out.rgb.data();
  for (int64_t y = 0; y < in.height; ++y) {
    const uint8_t* const row = in.rgb.data() + y * in.width * 3;
    for (const Window& window : windows.of) {
      const int32_t* const weights = windows.weights.data() + window.weights;
      const uint8_t* from = row + window.first * 3;
      int32_t red = kHalf;
      int32_t green = kHalf;
      int32_t blue = kHalf;
      for (int64_t k = 0; k < window.count; ++k, from += 3) {
        red += from[0] * weights[k];
        green += from[1] * weights[k];
        blue += from[2] * weights[k];
      }
      *to++ = clipped(red);
      *to++ = clipped(green);
      *to++ = clipped(blue);
    }
  }
  return out;
}

// Row by row over all columns at once, which the compiler turns into vector code.
Picture resize_rows(const Picture& in, int64_t height) {
  const Windows windows = windows_between(in.height, height);
  Picture out{.height = height, .width = in.width};
  const size_t row_values = static_cast<size_t>(in.width * 3);
  out.rgb.resize(static_cast<size_t>(height) * row_values);
  std::vector<int32_t> sums(row_values);
  uint8_t* to = out.rgb.data();
  for (const Window& window : windows.of) {
    std::fill(sums.begin(), sums.end(), kHalf);
    for (int64_t k = 0; k < window.count; ++k) {
      const int32_t weight = windows.weights[window.weights + static_cast<size_t>(k)];
      const uint8_t* const row = in.rgb.data() + static_cast<size_t>(window.first + k) * row_values;
      for (size_t x = 0; x < row_values; ++x) sums[x] += row[x] * weight;
    }
    for (size_t x = 0; x < row_values; ++x) to[x] = clipped(sums[x]);
    to += row_values;
  }
  return out;
}

}  // namespace

Picture resize_bicubic(const Picture& picture, int64_t height, int64_t width) {
  if (width != picture.width) {
    const Picture narrow = resize_columns(picture, width);
    return height != picture.height ? resize_rows(narrow, height) : narrow;
  }
  return height != picture.height ? resize_rows(picture, height) : picture;
}

}  // namespace plateau::train
