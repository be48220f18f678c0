// SPDX-License-Identifier: Apache-2.0
// An example in the making: turns and pictures as a line gave them, before each picture has its
// place.
//
// Where do pictures belong that stand beside the turns ("images": [...])? Where the text says
// <image>, or a part of type image names none, in order; if nothing says where, in front of the
// first question, which is what ms-swift and TRL do. Counts that differ are an error: half of the
// tools that write such lines would cut, the other half would go on without the picture.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "trainer/data/dataset.h"

namespace plateau::train {

// In Part::image: the next picture beside the turns belongs here.
inline constexpr size_t kBeside = ~size_t{0};

struct Draft {
  std::vector<Message> messages;
  std::vector<PictureSource> pictures;  // In the order of the line.
  std::vector<size_t> beside;           // Those of them that stand beside the turns.
  std::string beside_field;             // Their field, for messages: "images".
};

// Errors: no answer, an empty one, a picture in one; a picture without a place, a place without a
// picture, and marks of pictures that are not read (<|image_pad|>, <img>path</img>).
Result<Example> finish_example(Draft draft);

}  // namespace plateau::train
