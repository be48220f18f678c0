// SPDX-License-Identifier: Apache-2.0
// A picture in memory, and how its bytes become one.
//
// JPEG, PNG and WebP; what is decoded equals what Pillow's convert("RGB") makes of the same bytes:
// alpha is dropped, grey and palettes are spread, orientation is left as stored. A file that is cut
// off or broken is an error, never a grey rest or a blank picture. Bytes decide the format, names
// do not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/base64.h"
#include "base/result.h"

namespace plateau::train {

struct Picture {
  int64_t height = 0;
  int64_t width = 0;
  std::vector<uint8_t> rgb;  // height x width x 3.
};

struct PictureSize {
  int64_t height = 0;
  int64_t width = 0;
};

Result<Picture> decode_picture(std::span<const std::byte> bytes, const std::string& name);
// From the header alone: what the plan needs.
Result<PictureSize> picture_size(std::span<const std::byte> bytes, const std::string& name);

using plateau::decode_base64;

// Pillow's bicubic (a = -0.5, antialiased, 8 bits between the passes), to the bit.
Picture resize_bicubic(const Picture& picture, int64_t height, int64_t width);

}  // namespace plateau::train
