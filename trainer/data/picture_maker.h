// SPDX-License-Identifier: Apache-2.0
// Generated examples that a tiny model can learn in a minute: coloured shapes on a plain ground, a
// question, and an answer in JSON. Everything follows from the seed.
//
// All shapes of a picture are of one kind and colour, each within a square of 28 pixels that the
// model sees as one token: three kinds, six colours and up to three shapes are 54 answers. How many
// there are is what no single token tells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "trainer/image/encode.h"
#include "trainer/image/picture.h"

namespace plateau::train {

struct ShapeOptions {
  int64_t side = 84;                    // A multiple of 28, at least 28.
  int64_t most_shapes = 3;              // Not more than fit.
  std::optional<PictureFormat> format;  // Without: PNG and JPEG in turn.
};

struct ShapeExample {
  Picture pixels;
  PictureFormat format = PictureFormat::png;
  std::vector<std::byte> picture;  // `pixels` in `format`.
  std::string question;
  std::string answer;  // {"shape": "circle", "color": "red", "count": 2}
};

Result<ShapeExample> make_shape_example(uint64_t seed, const ShapeOptions& options = {});

// "png", "jpg" or "webp".
std::string extension_of(PictureFormat format);

}  // namespace plateau::train
