// SPDX-License-Identifier: Apache-2.0
// WebP by libwebp: lossy and lossless, alpha dropped without blending. Animations are refused.
#include <webp/decode.h>

#include "trainer/image/codecs.h"

namespace plateau::train {
namespace {

Error webp_error(VP8StatusCode status, const std::string& name) {
  switch (status) {
    case VP8_STATUS_NOT_ENOUGH_DATA:
    case VP8_STATUS_SUSPENDED:
      return picture_error(name, "the WebP is cut off");
    case VP8_STATUS_OUT_OF_MEMORY:
      return picture_error(name, "not enough memory to decode the WebP");
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      return picture_error(name, "the WebP uses a feature that libwebp does not support");
    default:
      return picture_error(name, "the WebP is broken");
  }
}

Result<PictureSize> read_features(std::span<const std::byte> bytes, const std::string& name) {
  WebPBitstreamFeatures features;
  const VP8StatusCode status =
      WebPGetFeatures(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), &features);
  if (status != VP8_STATUS_OK) return webp_error(status, name);
  if (features.has_animation) {
    return picture_error(name, "an animated WebP; a single picture is expected");
  }
  return judged_size({.height = features.height, .width = features.width}, name);
}

}  // namespace

Result<PictureSize> webp_size(std::span<const std::byte> bytes, const std::string& name) {
  return read_features(bytes, name);
}

Result<Picture> decode_webp(std::span<const std::byte> bytes, const std::string& name) {
  const Result<PictureSize> size = read_features(bytes, name);
  if (!size) return size.error();
  WebPDecoderConfig config;
  if (!WebPInitDecoderConfig(&config)) return picture_error(name, "libwebp is of another version");
  Picture picture{.height = size.value().height, .width = size.value().width};
  picture.rgb.resize(static_cast<size_t>(picture.height * picture.width * 3));
  config.output.colorspace = MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = picture.rgb.data();
  config.output.u.RGBA.stride = static_cast<int>(picture.width * 3);
  config.output.u.RGBA.size = picture.rgb.size();
  const VP8StatusCode status =
      WebPDecode(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), &config);
  WebPFreeDecBuffer(&config.output);
  if (status != VP8_STATUS_OK) return webp_error(status, name);
  return picture;
}

}  // namespace plateau::train
