// SPDX-License-Identifier: Apache-2.0
#include "trainer/image/picture.h"

#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>

#include "trainer/image/encode.h"

namespace plateau::train {
namespace {

using testing::HasSubstr;

// Colours that change from pixel to pixel, so that a compressor has something to do.
Picture sample(int64_t height, int64_t width) {
  Picture picture{.height = height, .width = width};
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      for (const int64_t value : {x * 7 + y, y * 11, (x * y) % 251 + x}) {
        picture.rgb.push_back(static_cast<uint8_t>(value));
      }
    }
  }
  return picture;
}

std::vector<std::byte> file_of(PictureFormat format, int64_t height = 40, int64_t width = 50) {
  Result<std::vector<std::byte>> bytes = encode_picture(sample(height, width), format);
  EXPECT_TRUE(bytes.ok());
  return std::move(bytes.value());
}

std::string error_of(std::span<const std::byte> bytes) {
  const Result<Picture> picture = decode_picture(bytes, "a/b.img");
  return picture.ok() ? "decoded" : picture.error().message;
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::string big_endian(uint32_t value) {
  std::string out;
  for (const int shift : {24, 16, 8, 0}) out += static_cast<char>(value >> shift);
  return out;
}

std::string png_chunk(const std::string& kind, const std::string& data) {
  uint32_t crc = ~0U;
  for (const char c : kind + data) {
    crc ^= static_cast<uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320U : 0U);
  }
  return big_endian(static_cast<uint32_t>(data.size())) + kind + data + big_endian(~crc);
}

// Colour type 2 is RGB, 3 a palette.
std::string png_header(uint32_t width, uint32_t height, char type = 2) {
  const std::string rest = {8, type, 0, 0, 0};
  return "\x89PNG\r\n\x1A\n" + png_chunk("IHDR", big_endian(width) + big_endian(height) + rest);
}

// One row of one pixel, by deflate's "stored" form: filter 0, then `value`, then their checksum.
std::string one_pixel(char value) {
  return std::string("\x78\x01\x01\x02\x00\xFD\xFF\x00", 8) + value +
         big_endian(static_cast<uint32_t>((value + 2) << 16 | (value + 1)));
}

TEST(Picture, LosslessFormatsGiveBackWhatWasWritten) {
  for (const PictureFormat format : {PictureFormat::png, PictureFormat::webp}) {
    const Picture before = sample(13, 29);
    const Result<std::vector<std::byte>> bytes = encode_picture(before, format);
    ASSERT_TRUE(bytes.ok());
    const Result<Picture> after = decode_picture(bytes.value(), "x");
    ASSERT_TRUE(after.ok());
    EXPECT_EQ(after.value().height, 13);
    EXPECT_EQ(after.value().width, 29);
    EXPECT_EQ(after.value().rgb, before.rgb);
  }
}

// Any end, down to the last byte: the rest of the picture is never made up.
TEST(Picture, OneThatIsCutOffIsAnErrorWhereverItEnds) {
  for (const PictureFormat format :
       {PictureFormat::jpeg, PictureFormat::png, PictureFormat::webp}) {
    const std::vector<std::byte> whole = file_of(format);
    ASSERT_TRUE(decode_picture(whole, "x").ok());
    for (size_t size = 0; size < whole.size(); ++size) {
      EXPECT_NE(error_of(std::span(whole).first(size)), "decoded")
          << "format " << static_cast<int>(format) << ", " << size << " of " << whole.size();
    }
  }
}

TEST(Picture, ErrorsNameThePictureAndWhatIsWrong) {
  const std::vector<std::byte> jpeg = file_of(PictureFormat::jpeg);
  EXPECT_EQ(error_of(std::span(jpeg).first(jpeg.size() / 2)), "a/b.img: the JPEG is cut off");
  const std::vector<std::byte> png = file_of(PictureFormat::png);
  EXPECT_EQ(error_of(std::span(png).first(png.size() / 2)), "a/b.img: the PNG is cut off");
  const std::vector<std::byte> webp = file_of(PictureFormat::webp);
  EXPECT_EQ(error_of(std::span(webp).first(webp.size() / 2)), "a/b.img: the WebP is cut off");
  EXPECT_EQ(error_of({}), "a/b.img: it is empty");
  EXPECT_THAT(error_of(bytes_of("GIF89a....")), HasSubstr("this is a GIF"));
  EXPECT_THAT(error_of(bytes_of("<html>404")), HasSubstr("HTML"));
  EXPECT_THAT(error_of(bytes_of("hello")), HasSubstr("a JPEG, PNG or WebP is expected"));
}

TEST(Picture, APngWithAFlippedBitIsAnError) {
  const std::vector<std::byte> whole = file_of(PictureFormat::png);
  const size_t data = whole.size() / 2;
  std::vector<std::byte> broken = whole;
  broken[data] ^= std::byte{1};
  EXPECT_THAT(error_of(broken), HasSubstr("the PNG is broken: "));
}

TEST(Picture, AJpegWhoseDataEndInAMarkerIsAnError) {
  std::vector<std::byte> jpeg = file_of(PictureFormat::jpeg);
  const size_t middle = jpeg.size() * 3 / 4;
  jpeg[middle] = std::byte{0xFF};
  jpeg[middle + 1] = std::byte{0xD9};
  EXPECT_THAT(error_of(jpeg), HasSubstr("the JPEG is broken: Corrupt JPEG data"));
}

TEST(Picture, StrayBytesBeforeTheEndOfAJpegAreLetPass) {
  std::vector<std::byte> jpeg = file_of(PictureFormat::jpeg);
  const Result<Picture> before = decode_picture(jpeg, "x");
  jpeg.insert(jpeg.end() - 2, 20, std::byte{0x41});
  const Result<Picture> after = decode_picture(jpeg, "x");
  ASSERT_TRUE(after.ok()) << after.error().message;
  EXPECT_EQ(after.value().rgb, before.value().rgb);
}

TEST(Picture, AbsurdHeadersAreRefusedBeforeAnythingIsAllocated) {
  const std::string huge = png_header(100'000, 100'000);
  EXPECT_THAT(error_of(bytes_of(huge)), HasSubstr("100000 x 100000 pixels, more than the limit"));
  EXPECT_FALSE(picture_size(bytes_of(huge), "x").ok());
  EXPECT_THAT(error_of(bytes_of(png_header(0xFFFFFFFF, 0xFFFFFFFF))), HasSubstr("the limit"));
  EXPECT_THAT(error_of(bytes_of(png_header(0, 5))), HasSubstr("0 x 5 pixels"));

  // The sides of a JPEG stand in its frame header: 65500 x 65500.
  std::vector<std::byte> jpeg = file_of(PictureFormat::jpeg);
  const std::array<std::byte, 3> mark = {std::byte{0xFF}, std::byte{0xC0}, std::byte{0}};
  const auto frame = std::search(jpeg.begin(), jpeg.end(), mark.begin(), mark.end());
  ASSERT_NE(frame, jpeg.end());
  for (const int i : {5, 7}) {
    frame[i] = std::byte{0xFF};
    frame[i + 1] = std::byte{0xDC};
  }
  EXPECT_THAT(error_of(jpeg), HasSubstr("65500 x 65500 pixels, more than the limit"));
}

// 17,000 x 17,000 is below the limit, but 867 MB of pixels do not come from 80 bytes.
TEST(Picture, APngTooSmallForItsPixelsIsRefusedByItsSize) {
  const std::string png = png_header(17'000, 17'000) + png_chunk("IDAT", one_pixel(0));
  EXPECT_THAT(error_of(bytes_of(png)), HasSubstr("bytes cannot hold 289000000 pixels"));
}

TEST(Picture, APaletteIndexThatDoesNotExistIsAnError) {
  const auto with_index = [](char index) {
    return png_header(1, 1, 3) + png_chunk("PLTE", "RGB") + png_chunk("IDAT", one_pixel(index)) +
           png_chunk("IEND", "");
  };
  EXPECT_EQ(error_of(bytes_of(with_index(0))), "decoded");
  EXPECT_THAT(error_of(bytes_of(with_index(5))), HasSubstr("colour 5 of a palette of 1"));
}

TEST(Picture, SizeComesFromTheHeaderAlone) {
  for (const PictureFormat format :
       {PictureFormat::jpeg, PictureFormat::png, PictureFormat::webp}) {
    const std::vector<std::byte> whole = file_of(format, 300, 700);
    const Result<PictureSize> size = picture_size(std::span(whole).first(800), "x");
    ASSERT_TRUE(size.ok()) << size.error().message;
    EXPECT_EQ(size.value().height, 300);
    EXPECT_EQ(size.value().width, 700);
  }
}

std::string text_of(const Result<std::vector<std::byte>>& bytes) {
  if (!bytes.ok()) return "error: " + bytes.error().message;
  return {reinterpret_cast<const char*>(bytes.value().data()), bytes.value().size()};
}

TEST(Base64, BareTextAndDataUrlsAreDecoded) {
  EXPECT_EQ(text_of(decode_base64("TWFu", "x")), "Man");
  EXPECT_EQ(text_of(decode_base64("TWE=", "x")), "Ma");
  EXPECT_EQ(text_of(decode_base64("TQ==", "x")), "M");
  EXPECT_EQ(text_of(decode_base64("data:image/png;base64,TWFuTWE=", "x")), "ManMa");
  EXPECT_EQ(text_of(decode_base64(" TW\r\nFu\t TQ = =\n", "x")), "ManM");
}

TEST(Base64, AnythingElseIsAnError) {
  EXPECT_EQ(text_of(decode_base64("TW-u", "x")), "error: x: not base64: '-' at position 3");
  EXPECT_EQ(text_of(decode_base64("TW\x01u", "x")),
            "error: x: not base64: byte 0x01 at position 3");
  EXPECT_EQ(text_of(decode_base64("data:image/png;base64,T%", "x")),
            "error: x: not base64: '%' at position 24");
  for (const char* text : {"", "  ", "T", "TW", "TWF", "TWFuT", "T===", "TQ=", "TQ=A", "TWFu=",
                           "TQ===", "=", "TWE=TWE=", "TR==", "TWF=", "data:image/png;base64,",
                           "data:image/png,TWFu", "data:image/png;base64"}) {
    EXPECT_FALSE(decode_base64(text, "x").ok()) << text;
  }
}

RC_GTEST_PROP(Base64, GivesBackWhatWasEncoded, (const std::vector<uint8_t>& bytes)) {
  static constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  RC_PRE(!bytes.empty());
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) group = group << 8 | (i + k < bytes.size() ? bytes[i + k] : 0U);
    for (size_t k = 0; k < 4; ++k) {
      text += i + k <= bytes.size() ? kAlphabet[group >> (18 - 6 * k) & 63] : '=';
    }
  }
  const Result<std::vector<std::byte>> decoded = decode_base64(text, "x");
  RC_ASSERT(decoded.ok());
  RC_ASSERT(std::ranges::equal(decoded.value(), std::as_bytes(std::span(bytes))));
}

}  // namespace
}  // namespace plateau::train
