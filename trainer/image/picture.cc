// SPDX-License-Identifier: Apache-2.0
#include "trainer/image/picture.h"

#include <string_view>

#include "trainer/image/codecs.h"

namespace plateau::train {
namespace {

enum class Format { jpeg, png, webp, none };

Format format_of(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.starts_with("\xFF\xD8\xFF")) return Format::jpeg;
  if (text.starts_with("\x89PNG\r\n\x1A\n")) return Format::png;
  if (text.starts_with("RIFF") && text.size() >= 12 && text.substr(8, 4) == "WEBP") {
    return Format::webp;
  }
  return Format::none;
}

// Says what the bytes look like instead, since a wrong file is more common than a broken one.
Error unknown_format(std::span<const std::byte> bytes, const std::string& name) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.empty()) return picture_error(name, "it is empty");
  const char* found = "what it holds is none of them";
  if (text.starts_with("GIF8")) found = "this is a GIF";
  if (text.starts_with("BM")) found = "this looks like a BMP";
  if (text.starts_with("II*") || text.starts_with("MM")) found = "this looks like a TIFF";
  if (text.starts_with("%PDF")) found = "this is a PDF";
  if (text.starts_with('<')) found = "this looks like HTML or SVG";
  if (text.starts_with("version https://git-lfs")) found = "this is a Git LFS pointer";
  if (text.size() >= 12 && text.substr(4, 4) == "ftyp") found = "this looks like HEIC, AVIF or MP4";
  return picture_error(name, std::string("a JPEG, PNG or WebP is expected, and ") + found);
}

}  // namespace

Error picture_error(const std::string& name, const std::string& what) {
  return Error{Error::Kind::bad_input, name + ": " + what};
}

Result<PictureSize> judged_size(PictureSize size, const std::string& name) {
  const std::string sides = std::to_string(size.width) + " x " + std::to_string(size.height);
  if (size.width < 1 || size.height < 1) {
    return picture_error(name, "its header says " + sides + " pixels");
  }
  if (size.width > kMaxPicturePixels || size.height > kMaxPicturePixels / size.width) {
    return picture_error(name, "its header says " + sides + " pixels, more than the limit of " +
                                   std::to_string(kMaxPicturePixels / 1'000'000) + " million");
  }
  return size;
}

Result<Picture> decode_picture(std::span<const std::byte> bytes, const std::string& name) {
  switch (format_of(bytes)) {
    case Format::jpeg:
      return decode_jpeg(bytes, name);
    case Format::png:
      return decode_png(bytes, name);
    case Format::webp:
      return decode_webp(bytes, name);
    case Format::none:
      break;
  }
  return unknown_format(bytes, name);
}

Result<PictureSize> picture_size(std::span<const std::byte> bytes, const std::string& name) {
  switch (format_of(bytes)) {
    case Format::jpeg:
      return jpeg_size(bytes, name);
    case Format::png:
      return png_size(bytes, name);
    case Format::webp:
      return webp_size(bytes, name);
    case Format::none:
      break;
  }
  return unknown_format(bytes, name);
}

}  // namespace plateau::train
