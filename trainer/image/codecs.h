// SPDX-License-Identifier: Apache-2.0
// One reader per picture format, for picture.cc alone: it knows which one the bytes call for.
//
// Each reader first learns the size, which is judged before any pixel is allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "trainer/image/picture.h"

namespace plateau::train {

// Larger pictures are refused by their header: 300 million pixels are 900 MB of RGB.
inline constexpr int64_t kMaxPicturePixels = 300'000'000;

// An error if `size` is empty or above the limit.
Result<PictureSize> judged_size(PictureSize size, const std::string& name);

// "NAME: the JPEG is broken: ..."
Error picture_error(const std::string& name, const std::string& what);

Result<PictureSize> jpeg_size(std::span<const std::byte> bytes, const std::string& name);
Result<Picture> decode_jpeg(std::span<const std::byte> bytes, const std::string& name);
Result<PictureSize> png_size(std::span<const std::byte> bytes, const std::string& name);
Result<Picture> decode_png(std::span<const std::byte> bytes, const std::string& name);
Result<PictureSize> webp_size(std::span<const std::byte> bytes, const std::string& name);
Result<Picture> decode_webp(std::span<const std::byte> bytes, const std::string& name);

}  // namespace plateau::train
