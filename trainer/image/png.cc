// SPDX-License-Identifier: Apache-2.0
// PNG by libpng, turned to RGB the way Pillow's convert("RGB") does it.
//
// Per colour type: 16-bit colours keep their upper byte; 16-bit grey without alpha, which Pillow
// holds as integers, is not scaled but cut at 255; grey of 1, 2 and 4 bits is stretched to 0..255;
// alpha and transparent colours are dropped without blending. Gamma, colour profiles and background
// are not looked at. A palette index that the palette does not have is an error.
//
// libpng reports errors by a jump. As in jpeg.cc, every step sets its own target and holds nothing
// that would need a destructor.
#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>

#include "trainer/image/codecs.h"

namespace plateau::train {
namespace {

// Deflate shrinks by less than this, so a smaller file cannot be whole.
constexpr int64_t kMostDeflated = 1040;

struct Header {
  PictureSize size;
  int depth = 0;
  int type = 0;

  [[nodiscard]] bool is_palette() const { return type == PNG_COLOR_TYPE_PALETTE; }
  [[nodiscard]] bool is_wide_grey() const { return type == PNG_COLOR_TYPE_GRAY && depth == 16; }
  // Of a pixel in the rows that PngReader gives.
  [[nodiscard]] int64_t pixel_bytes() const { return is_palette() ? 1 : is_wide_grey() ? 2 : 3; }
  [[nodiscard]] int64_t packed_bytes() const {
    const int channels = (type & PNG_COLOR_MASK_COLOR) && !is_palette() ? 3 : 1;
    const int alpha = (type & PNG_COLOR_MASK_ALPHA) ? 1 : 0;
    return size.height * size.width * depth * (channels + alpha) / 8;
  }
};

int64_t big_endian_32(std::span<const std::byte> bytes, size_t at) {
  int64_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | std::to_integer<int64_t>(bytes[at + i]);
  return value;
}

// By hand, so that the size is judged before libpng sees it. libpng checks the rest.
Result<Header> read_ihdr(std::span<const std::byte> bytes, const std::string& name) {
  constexpr size_t kIhdrEnd = 8 + 8 + 13;
  if (bytes.size() < kIhdrEnd) return picture_error(name, "the PNG is cut off in its header");
  if (std::memcmp(bytes.data() + 12, "IHDR", 4) != 0) {
    return picture_error(name, "the PNG is broken: it does not begin with IHDR");
  }
  Header header;
  header.size = {.height = big_endian_32(bytes, 20), .width = big_endian_32(bytes, 16)};
  header.depth = std::to_integer<int>(bytes[24]);
  header.type = std::to_integer<int>(bytes[25]);
  const Result<PictureSize> judged = judged_size(header.size, name);
  if (!judged) return judged.error();
  return header;
}

struct PngSource {
  std::span<const std::byte> rest;
  bool is_cut_off = false;
  char message[200] = {};
};

[[noreturn]] void on_error(png_structp png, png_const_charp message) {
  auto* source = static_cast<PngSource*>(png_get_error_ptr(png));
  std::snprintf(source->message, sizeof source->message, "%s", message);
  png_longjmp(png, 1);
}

void on_warning(png_structp /*png*/, png_const_charp /*message*/) {}

void on_read(png_structp png, png_bytep out, size_t size) {
  auto* source = static_cast<PngSource*>(png_get_io_ptr(png));
  if (size > source->rest.size()) {
    source->is_cut_off = true;
    png_error(png, "cut off");
  }
  std::memcpy(out, source->rest.data(), size);
  source->rest = source->rest.subspan(size);
}

class PngReader {
 public:
  explicit PngReader(std::span<const std::byte> bytes) {
    source_.rest = bytes;
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &source_, on_error, on_warning);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  // Up to the pixels. Rows will be RGB, palette indices or 16-bit grey: Header::pixel_bytes.
  bool start(const Header& header) {
    if (info_ == nullptr) return false;
    if (setjmp(png_jmpbuf(png_))) return false;
    png_set_read_fn(png_, &source_, on_read);
    // Text, profiles and the like are not even unpacked.
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
    png_read_info(png_, info_);
    if (header.is_palette()) {
      png_set_packing(png_);
    } else if (!header.is_wide_grey()) {
      png_set_expand_gray_1_2_4_to_8(png_);
      png_set_strip_16(png_);
      png_set_strip_alpha(png_);
      png_set_gray_to_rgb(png_);
    }
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    return true;
  }

  bool read(uint8_t** rows) {
    if (setjmp(png_jmpbuf(png_))) return false;
    png_read_image(png_, rows);
    png_read_end(png_, nullptr);
    return true;
  }

  [[nodiscard]] size_t row_bytes() const { return png_get_rowbytes(png_, info_); }
  [[nodiscard]] std::span<const png_color> palette() const {
    png_colorp colours = nullptr;
    int count = 0;
    png_get_PLTE(png_, info_, &colours, &count);
    return {colours, static_cast<size_t>(count)};
  }
  [[nodiscard]] Error error(const std::string& name) const {
    if (source_.is_cut_off) return picture_error(name, "the PNG is cut off");
    return picture_error(name, std::string("the PNG is broken: ") + source_.message);
  }

 private:
  PngSource source_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

bool read_rows(PngReader& reader, std::vector<uint8_t>& pixels, int64_t height) {
  const size_t row_bytes = pixels.size() / static_cast<size_t>(height);
  std::vector<uint8_t*> rows(static_cast<size_t>(height));
  for (size_t y = 0; y < rows.size(); ++y) rows[y] = pixels.data() + y * row_bytes;
  return reader.read(rows.data());
}

void spread_wide_grey(std::span<const uint8_t> wide, std::vector<uint8_t>& rgb) {
  for (size_t i = 0; i < wide.size() / 2; ++i) {
    const uint8_t value = wide[2 * i] != 0 ? 255 : wide[2 * i + 1];
    rgb[3 * i] = rgb[3 * i + 1] = rgb[3 * i + 2] = value;
  }
}

// The first index that the palette does not have, or -1.
int spread_palette(std::span<const uint8_t> indices, std::span<const png_color> palette,
                   std::vector<uint8_t>& rgb) {
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] >= palette.size()) return indices[i];
    const png_color& colour = palette[indices[i]];
    rgb[3 * i] = colour.red;
    rgb[3 * i + 1] = colour.green;
    rgb[3 * i + 2] = colour.blue;
  }
  return -1;
}

}  // namespace

Result<PictureSize> png_size(std::span<const std::byte> bytes, const std::string& name) {
  const Result<Header> header = read_ihdr(bytes, name);
  if (!header) return header.error();
  return header.value().size;
}

Result<Picture> decode_png(std::span<const std::byte> bytes, const std::string& name) {
  const Result<Header> read = read_ihdr(bytes, name);
  if (!read) return read.error();
  const Header& header = read.value();
  const int64_t pixels = header.size.height * header.size.width;
  PngReader reader(bytes);
  if (!reader.start(header)) return reader.error(name);
  if (header.packed_bytes() / kMostDeflated > static_cast<int64_t>(bytes.size())) {
    return picture_error(name, "the PNG is cut off: its " + std::to_string(bytes.size()) +
                                   " bytes cannot hold " + std::to_string(pixels) + " pixels");
  }
  if (reader.row_bytes() != static_cast<size_t>(header.size.width * header.pixel_bytes())) {
    return picture_error(name, "the PNG is broken: its rows have an unexpected size");
  }

  Picture picture{.height = header.size.height, .width = header.size.width};
  if (header.pixel_bytes() == 3) {
    picture.rgb.resize(static_cast<size_t>(pixels * 3));
    if (!read_rows(reader, picture.rgb, picture.height)) return reader.error(name);
    return picture;
  }
  std::vector<uint8_t> stored(static_cast<size_t>(pixels * header.pixel_bytes()));
  if (!read_rows(reader, stored, picture.height)) return reader.error(name);
  picture.rgb.resize(static_cast<size_t>(pixels * 3));
  if (header.is_wide_grey()) {
    spread_wide_grey(stored, picture.rgb);
    return picture;
  }
  const int missing = spread_palette(stored, reader.palette(), picture.rgb);
  if (missing >= 0) {
    return picture_error(name, "the PNG is broken: it uses colour " + std::to_string(missing) +
                                   " of a palette of " + std::to_string(reader.palette().size()));
  }
  return picture;
}

}  // namespace plateau::train
