// SPDX-License-Identifier: Apache-2.0
#include "page/pack.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/utf8.h"

namespace plateau {
namespace {

constexpr int kGzipWindow = 15 + 16;  // The largest window, with gzip's own head and tail.
constexpr int kMemoryLevel = 9;
// A report is written once and sent often; 9 takes several times as long for a per cent or two.
constexpr int kLevel = 6;

}  // namespace

std::string gzipped(std::string_view plain) {
  z_stream stream = {};
  if (deflateInit2(&stream, kLevel, Z_DEFLATED, kGzipWindow, kMemoryLevel, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    return "";
  }
  std::string out;
  std::array<char, 1 << 16> piece;
  const char* from = plain.data();
  size_t left = plain.size();
  int status = Z_OK;
  while (status == Z_OK) {
    if (stream.avail_in == 0 && left > 0) {
      const auto take =
          static_cast<uInt>(std::min<size_t>(left, std::numeric_limits<uInt>::max() / 2));
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(from));
      stream.avail_in = take;
      from += take;
      left -= take;
    }
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    status = deflate(&stream, left == 0 ? Z_FINISH : Z_NO_FLUSH);
    out.append(piece.data(), piece.size() - stream.avail_out);
  }
  deflateEnd(&stream);
  return out;
}

std::string base64_of(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t have = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t b = 0; b < 3; ++b) {
      group = group << 8 | (b < have ? static_cast<unsigned char>(bytes[i + b]) : 0u);
    }
    for (size_t d = 0; d < 4; ++d) {
      out += d <= have ? kDigits[group >> (18 - 6 * d) & 63] : '=';
    }
  }
  return out;
}

std::string html_escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 8);
  while (!text.empty()) {
    const CodePoint point = decode_utf8(text);
    text.remove_prefix(point.bytes);
    switch (point.value) {
      case U'&':
        out += "&amp;";
        break;
      case U'<':
        out += "&lt;";
        break;
      case U'>':
        out += "&gt;";
        break;
      case U'"':
        out += "&quot;";
        break;
      case U'\'':
        out += "&#39;";
        break;
      default: {
        const bool control = point.value < 0x20 || (point.value >= 0x7F && point.value < 0xA0);
        if (!control || point.value == U'\n' || point.value == U'\t') {
          append_utf8(out, point.value);
        }
      }
    }
  }
  return out;
}

}  // namespace plateau
