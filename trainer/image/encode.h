// SPDX-License-Identifier: Apache-2.0
// A picture to bytes, for generated datasets and for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "trainer/image/picture.h"

namespace plateau::train {

enum class PictureFormat : uint8_t { jpeg, png, webp };

// PNG and WebP without loss; JPEG with `quality` 1..100 and halved chroma. An error only when
// memory runs out or a side is empty or too long for the format.
Result<std::vector<std::byte>> encode_picture(const Picture& picture, PictureFormat format,
                                              int quality = 90);

}  // namespace plateau::train
