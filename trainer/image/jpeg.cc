// SPDX-License-Identifier: Apache-2.0
// JPEG by libjpeg-turbo, with the settings that Pillow leaves at their defaults: the accurate
// integer DCT and smooth chroma upsampling. The same library with the same settings gives the same
// pixels.
//
// libjpeg reports errors by a call that must not return, so each step of JpegReader sets a jump
// target of its own and calls nothing but C from there on: no frame that is jumped over owns
// anything. What a step needs is allocated before it.
//
// For libjpeg much that is broken is only a warning, after which the rest of a picture is grey.
// Here such warnings are errors. Stray bytes between segments are let pass: phones and webcams
// write them, and the pixels are whole.
#include <jerror.h>

#include <csetjmp>
#include <cstdio>
#include <cstring>

#include "trainer/image/codecs.h"
// After <cstdio>, which it needs and does not include.
#include <jpeglib.h>

namespace plateau::train {
namespace {

// A progressive picture has about ten; thousands of empty ones only keep a decoder busy.
constexpr int kMaxScans = 500;

struct JpegErrors {
  jpeg_error_mgr manager;  // First, so that a pointer to it is one to the whole.
  std::jmp_buf jump;
  bool is_cut_off;
  char message[JMSG_LENGTH_MAX];
};

[[noreturn]] void leave(j_common_ptr info) {
  auto* errors = reinterpret_cast<JpegErrors*>(info->err);
  info->err->format_message(info, errors->message);
  std::longjmp(errors->jump, 1);
}

void on_message(j_common_ptr info, int level) {
  if (level >= 0) return;  // A trace of what is read.
  auto* errors = reinterpret_cast<JpegErrors*>(info->err);
  switch (info->err->msg_code) {
    case JWRN_EXTRANEOUS_DATA:
    case JWRN_ADOBE_XFORM:
    case JWRN_JFIF_MAJOR:
    case JWRN_NOT_SEQUENTIAL:
      return;
    case JWRN_JPEG_EOF:
      errors->is_cut_off = true;
      leave(info);
    default:
      leave(info);
  }
}

void on_progress(j_common_ptr info) {
  const auto* jpeg = reinterpret_cast<j_decompress_ptr>(info);
  if (jpeg->input_scan_number <= kMaxScans) return;
  auto* errors = reinterpret_cast<JpegErrors*>(info->err);
  std::snprintf(errors->message, sizeof errors->message, "more than %d scans", kMaxScans);
  std::longjmp(errors->jump, 1);
}

class JpegReader {
 public:
  JpegReader() {
    std::memset(&jpeg_, 0, sizeof jpeg_);
    std::memset(&errors_, 0, sizeof errors_);
    std::memset(&progress_, 0, sizeof progress_);
    jpeg_.err = jpeg_std_error(&errors_.manager);
    errors_.manager.error_exit = leave;
    errors_.manager.emit_message = on_message;
    progress_.progress_monitor = on_progress;
  }
  ~JpegReader() { jpeg_destroy_decompress(&jpeg_); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  bool read_header(std::span<const std::byte> bytes) {
    if (setjmp(errors_.jump)) return false;
    jpeg_create_decompress(&jpeg_);
    jpeg_.progress = &progress_;
    jpeg_mem_src(&jpeg_, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    jpeg_read_header(&jpeg_, TRUE);
    return true;
  }

  // Requires: read_header. Colours come out as RGB, grey or CMYK, as components() says.
  bool start() {
    if (setjmp(errors_.jump)) return false;
    if (jpeg_.num_components == 3) jpeg_.out_color_space = JCS_RGB;
    if (jpeg_.num_components == 4) jpeg_.out_color_space = JCS_CMYK;
    jpeg_.dct_method = JDCT_ISLOW;
    jpeg_.do_fancy_upsampling = TRUE;
    jpeg_start_decompress(&jpeg_);
    return true;
  }

  bool read_row(uint8_t* row) {
    if (setjmp(errors_.jump)) return false;
    return jpeg_read_scanlines(&jpeg_, &row, 1) == 1;
  }

  // Reads up to the end of the picture, so that one cut off behind its last row is seen.
  bool finish() {
    if (setjmp(errors_.jump)) return false;
    return jpeg_finish_decompress(&jpeg_) == TRUE;
  }

  [[nodiscard]] PictureSize size() const { return {jpeg_.image_height, jpeg_.image_width}; }
  [[nodiscard]] int components() const { return jpeg_.num_components; }
  [[nodiscard]] int row_components() const { return jpeg_.output_components; }
  [[nodiscard]] Error error(const std::string& name) const {
    if (errors_.is_cut_off) return picture_error(name, "the JPEG is cut off");
    return picture_error(name, std::string("the JPEG is broken: ") + errors_.message);
  }

 private:
  jpeg_decompress_struct jpeg_;
  JpegErrors errors_;
  jpeg_progress_mgr progress_;
};

void spread_grey(const uint8_t* grey, int64_t width, uint8_t* rgb) {
  for (int64_t x = 0; x < width; ++x) rgb[3 * x] = rgb[3 * x + 1] = rgb[3 * x + 2] = grey[x];
}

// a * b / 255, rounded.
uint8_t share(int a, int b) {
  const int product = a * b + 128;
  return static_cast<uint8_t>((product + (product >> 8)) >> 8);
}

// Stored inverted, as Adobe does and Pillow assumes of all: 255 is no ink.
void spread_cmyk(const uint8_t* inverted, int64_t width, uint8_t* rgb) {
  for (int64_t x = 0; x < width; ++x) {
    const int light = inverted[4 * x + 3];
    for (int64_t c = 0; c < 3; ++c) {
      rgb[3 * x + c] = static_cast<uint8_t>(light - share(255 - inverted[4 * x + c], light));
    }
  }
}

}  // namespace

Result<PictureSize> jpeg_size(std::span<const std::byte> bytes, const std::string& name) {
  JpegReader reader;
  if (!reader.read_header(bytes)) return reader.error(name);
  return judged_size(reader.size(), name);
}

Result<Picture> decode_jpeg(std::span<const std::byte> bytes, const std::string& name) {
  JpegReader reader;
  if (!reader.read_header(bytes)) return reader.error(name);
  const Result<PictureSize> size = judged_size(reader.size(), name);
  if (!size) return size.error();
  const int components = reader.components();
  if (components != 1 && components != 3 && components != 4) {
    return picture_error(name, "a JPEG of " + std::to_string(components) + " components");
  }
  if (!reader.start()) return reader.error(name);
  if (reader.row_components() != components) {
    return picture_error(name, "the JPEG is broken: its colours cannot be told");
  }

  Picture picture{.height = size.value().height, .width = size.value().width};
  picture.rgb.resize(static_cast<size_t>(picture.height * picture.width * 3));
  std::vector<uint8_t> row(static_cast<size_t>(picture.width * components));
  for (int64_t y = 0; y < picture.height; ++y) {
    uint8_t* const rgb = picture.rgb.data() + y * picture.width * 3;
    if (!reader.read_row(components == 3 ? rgb : row.data())) return reader.error(name);
    if (components == 1) spread_grey(row.data(), picture.width, rgb);
    if (components == 4) spread_cmyk(row.data(), picture.width, rgb);
  }
  if (!reader.finish()) return reader.error(name);
  return picture;
}

}  // namespace plateau::train
