// SPDX-License-Identifier: Apache-2.0
// The image processor of Qwen2-VL: from a picture to rows of patches, equal to the Python one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "trainer/image/picture.h"

namespace plateau::train {

struct ProcessorOptions {
  int64_t min_pixels = 3136;
  int64_t max_pixels = 12845056;
  int64_t patch_size = 14;
  int64_t merge_size = 2;
};

// Sides in patches, before merging; frames is 1 for a picture.
struct Grid {
  int64_t frames = 1;
  int64_t height = 0;
  int64_t width = 0;
  [[nodiscard]] int64_t patches() const { return frames * height * width; }
  [[nodiscard]] int64_t tokens(int64_t merge_size) const {
    return patches() / (merge_size * merge_size);
  }
};

// The size a picture is resized to; an aspect ratio above 200 is an error.
Result<PictureSize> smart_resize(PictureSize size, const ProcessorOptions& options,
                                 const std::string& name);
Grid grid_of(PictureSize resized, const ProcessorOptions& options);

// One frame of each patch: rows of 3 x 14 x 14 values in the order channel, y, x; patches in
// blocks of merge_size x merge_size. The Python processor stores every still frame twice; here it
// is stored once, and frozen weights of the two are added up (docs/trainer.md).
struct Patches {
  Grid grid;
  std::vector<float> values;
};
Result<Patches> make_patches(const Picture& picture, const ProcessorOptions& options,
                             const std::string& name);
// The same, behind what `values` holds; nothing is added on an error.
Result<Grid> append_patches(const Picture& picture, const ProcessorOptions& options,
                            const std::string& name, std::vector<float>& values);

}  // namespace plateau::train
