// SPDX-License-Identifier: Apache-2.0
#include "trainer/image/encode.h"

#include <png.h>
#include <webp/encode.h>

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>

#include "trainer/image/codecs.h"
// After <cstdio>, which it needs and does not include.
#include <jpeglib.h>

namespace plateau::train {
namespace {

std::vector<std::byte> copied(const unsigned char* data, size_t size) {
  const auto* begin = reinterpret_cast<const std::byte*>(data);
  return {begin, begin + size};
}

struct JpegWriteErrors {
  jpeg_error_mgr manager;  // First, so that a pointer to it is one to the whole.
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
};

[[noreturn]] void leave(j_common_ptr info) {
  auto* errors = reinterpret_cast<JpegWriteErrors*>(info->err);
  info->err->format_message(info, errors->message);
  std::longjmp(errors->jump, 1);
}

void on_message(j_common_ptr /*info*/, int /*level*/) {}

class JpegWriter {
 public:
  JpegWriter() {
    std::memset(&jpeg_, 0, sizeof jpeg_);
    std::memset(&errors_, 0, sizeof errors_);
    jpeg_.err = jpeg_std_error(&errors_.manager);
    errors_.manager.error_exit = leave;
    errors_.manager.emit_message = on_message;
  }
  ~JpegWriter() {
    jpeg_destroy_compress(&jpeg_);
    std::free(out_);
  }
  JpegWriter(const JpegWriter&) = delete;
  JpegWriter& operator=(const JpegWriter&) = delete;

  // As in jpeg.cc: what is jumped over owns nothing.
  bool write(const Picture& picture, int quality) {
    if (setjmp(errors_.jump)) return false;
    jpeg_create_compress(&jpeg_);
    jpeg_mem_dest(&jpeg_, &out_, &size_);
    jpeg_.image_width = static_cast<JDIMENSION>(picture.width);
    jpeg_.image_height = static_cast<JDIMENSION>(picture.height);
    jpeg_.input_components = 3;
    jpeg_.in_color_space = JCS_RGB;
    jpeg_set_defaults(&jpeg_);
    jpeg_set_quality(&jpeg_, quality, TRUE);
    jpeg_start_compress(&jpeg_, TRUE);
    while (jpeg_.next_scanline < jpeg_.image_height) {
      const size_t at = static_cast<size_t>(jpeg_.next_scanline) * jpeg_.image_width * 3;
      auto* row = const_cast<JSAMPROW>(picture.rgb.data() + at);  // The library does not write.
      jpeg_write_scanlines(&jpeg_, &row, 1);
    }
    jpeg_finish_compress(&jpeg_);
    return true;
  }

  [[nodiscard]] std::vector<std::byte> bytes() const { return copied(out_, size_); }
  [[nodiscard]] const char* message() const { return errors_.message; }

 private:
  jpeg_compress_struct jpeg_;
  JpegWriteErrors errors_;
  unsigned char* out_ = nullptr;
  unsigned long size_ = 0;  // As libjpeg has it.
};

Result<std::vector<std::byte>> encode_png(const Picture& picture) {
  png_image image;
  std::memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(picture.width);
  image.height = static_cast<png_uint_32>(picture.height);
  image.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::vector<std::byte> bytes(size);
  if (!png_image_write_to_memory(&image, bytes.data(), &size, 0, picture.rgb.data(), 0, nullptr)) {
    return picture_error("writing a PNG", image.message);
  }
  bytes.resize(size);
  return bytes;
}

Result<std::vector<std::byte>> encode_webp(const Picture& picture) {
  uint8_t* out = nullptr;
  const size_t size = WebPEncodeLosslessRGB(picture.rgb.data(), static_cast<int>(picture.width),
                                            static_cast<int>(picture.height),
                                            static_cast<int>(picture.width * 3), &out);
  if (size == 0) return picture_error("writing a WebP", "libwebp refused the picture");
  std::vector<std::byte> bytes = copied(out, size);
  WebPFree(out);
  return bytes;
}

}  // namespace

Result<std::vector<std::byte>> encode_picture(const Picture& picture, PictureFormat format,
                                              int quality) {
  const Result<PictureSize> size =
      judged_size({.height = picture.height, .width = picture.width}, "writing a picture");
  if (!size) return size.error();
  if (format == PictureFormat::png) return encode_png(picture);
  if (format == PictureFormat::webp) return encode_webp(picture);
  JpegWriter writer;
  if (!writer.write(picture, quality)) return picture_error("writing a JPEG", writer.message());
  return writer.bytes();
}

}  // namespace plateau::train
