// SPDX-License-Identifier: Apache-2.0
#include "dataset/picture_header.h"

#include <fmt/format.h>
#include <zlib.h>

#include <cstdlib>
#include <optional>

namespace plateau {
namespace {

constexpr int64_t kMostSide = 1'000'000;

Error bad(std::string what) {
  return {Error::Kind::bad_input, std::move(what)};
}

uint64_t big(std::string_view bytes, size_t at, size_t count) {
  uint64_t value = 0;
  for (size_t i = 0; i < count; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

uint64_t little(std::string_view bytes, size_t at, size_t count) {
  uint64_t value = 0;
  for (size_t i = count; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

Result<PictureFacts> judged(std::string_view format, uint64_t width, uint64_t height) {
  if (width == 0 || height == 0 || width > kMostSide || height > kMostSide) {
    return bad(fmt::format("a {} of {} x {} pixels", format, width, height));
  }
  return PictureFacts{format, static_cast<int64_t>(width), static_cast<int64_t>(height)};
}

Result<PictureFacts> png_facts(std::string_view bytes, bool is_whole) {
  constexpr size_t kSignature = 8;
  constexpr size_t kChunkFrame = 12;  // Length, name, checksum.
  if (bytes.size() < kSignature + kChunkFrame + 13 || bytes.substr(12, 4) != "IHDR") {
    return bad("a PNG without its header");
  }
  Result<PictureFacts> facts = judged("PNG", big(bytes, 16, 4), big(bytes, 20, 4));
  if (!facts || !is_whole) return facts;
  bool has_pixels = false;
  for (size_t at = kSignature; at + kChunkFrame <= bytes.size();) {
    const uint64_t length = big(bytes, at, 4);
    const std::string_view name = bytes.substr(at + 4, 4);
    if (length > bytes.size() - at - kChunkFrame) return bad("cut off inside a chunk");
    const auto* data = reinterpret_cast<const Bytef*>(bytes.data() + at + 4);
    if (crc32_z(crc32_z(0, nullptr, 0), data, length + 4) != big(bytes, at + 8 + length, 4)) {
      return bad("a chunk's checksum is wrong");
    }
    has_pixels = has_pixels || name == "IDAT";
    if (name == "IEND") return has_pixels ? facts : bad("a PNG without pixels");
    at += kChunkFrame + length;
  }
  return bad("cut off: no end chunk");
}

bool is_frame_header(unsigned marker) {
  return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

// Behind the entropy-coded data that begins at `at`: where the next marker stands.
size_t behind_scan(std::string_view bytes, size_t at) {
  while (true) {
    at = bytes.find('\xFF', at);
    if (at == std::string_view::npos || at + 1 >= bytes.size()) return std::string_view::npos;
    const unsigned next = static_cast<unsigned char>(bytes[at + 1]);
    if (next != 0 && next != 0xFF && !(next >= 0xD0 && next <= 0xD7)) return at;
    at += next == 0xFF ? 1 : 2;
  }
}

Result<PictureFacts> jpeg_facts(std::string_view bytes, bool is_whole) {
  std::optional<PictureFacts> facts;
  const auto cut = [&]() -> Result<PictureFacts> {
    if (facts && !is_whole) return *facts;
    return bad(facts ? "cut off: no end of image" : "cut off before its size");
  };
  for (size_t at = 2; at + 2 <= bytes.size();) {
    if (bytes[at] != '\xFF') return bad("broken between segments");
    const unsigned marker = static_cast<unsigned char>(bytes[at + 1]);
    if (marker == 0xFF) {
      ++at;
      continue;
    }
    if (marker == 0xD9) return facts ? Result<PictureFacts>(*facts) : bad("a JPEG without a frame");
    if (at + 4 > bytes.size()) return cut();
    const size_t length = big(bytes, at + 2, 2);
    if (length < 2) return bad("a segment of no length");
    if (length + 2 > bytes.size() - at) return cut();
    if (is_frame_header(marker)) {
      if (length < 8) return bad("a frame header that is too short");
      Result<PictureFacts> size = judged("JPEG", big(bytes, at + 7, 2), big(bytes, at + 5, 2));
      if (!size || !is_whole) return size;
      facts = size.value();
    }
    at += 2 + length;
    if (marker == 0xDA) {
      at = behind_scan(bytes, at);
      if (at == std::string_view::npos) return cut();
    }
  }
  return cut();
}

Result<PictureFacts> webp_facts(std::string_view bytes, bool is_whole) {
  if (bytes.size() < 30) return bad("cut off before its size");
  if (is_whole && little(bytes, 4, 4) + 8 > bytes.size())
    return bad("cut off: shorter than its header says");
  const std::string_view kind = bytes.substr(12, 4);
  if (kind == "VP8X") return judged("WebP", little(bytes, 24, 3) + 1, little(bytes, 27, 3) + 1);
  if (kind == "VP8 ")
    return judged("WebP", little(bytes, 26, 2) & 0x3FFF, little(bytes, 28, 2) & 0x3FFF);
  if (kind != "VP8L") return bad("a WebP of an unknown kind");
  const uint64_t packed = little(bytes, 21, 4);
  return judged("WebP", (packed & 0x3FFF) + 1, (packed >> 14 & 0x3FFF) + 1);
}

Result<PictureFacts> gif_facts(std::string_view bytes, bool is_whole) {
  if (bytes.size() < 13) return bad("cut off before its size");
  if (is_whole && bytes.find_last_not_of('\0') != std::string_view::npos &&
      bytes[bytes.find_last_not_of('\0')] != ';') {
    return bad("cut off: no trailer");
  }
  return judged("GIF", little(bytes, 6, 2), little(bytes, 8, 2));
}

Result<PictureFacts> bmp_facts(std::string_view bytes, bool is_whole) {
  if (bytes.size() < 26) return bad("cut off before its size");
  if (is_whole && little(bytes, 2, 4) > bytes.size())
    return bad("cut off: shorter than its header says");
  const auto height = static_cast<int32_t>(little(bytes, 22, 4));
  return judged("BMP", little(bytes, 18, 4), static_cast<uint64_t>(std::llabs(height)));
}

}  // namespace

Result<PictureFacts> picture_facts(std::string_view bytes, bool is_whole) {
  if (bytes.empty()) return bad("empty");
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return png_facts(bytes, is_whole);
  if (bytes.starts_with("\xFF\xD8")) return jpeg_facts(bytes, is_whole);
  if (bytes.starts_with("RIFF") && bytes.size() >= 12 && bytes.substr(8, 4) == "WEBP") {
    return webp_facts(bytes, is_whole);
  }
  if (bytes.starts_with("GIF8")) return gif_facts(bytes, is_whole);
  if (bytes.starts_with("BM")) return bmp_facts(bytes, is_whole);
  return bad("neither JPEG, PNG, WebP, GIF nor BMP");
}

}  // namespace plateau
