// SPDX-License-Identifier: Apache-2.0
#include "serve/gzip.h"

#include <zlib.h>

#include "base/text.h"

namespace plateau {
namespace {

constexpr int kGzipWindow = 15 + 16;  // zlib's largest window, with gzip's head and tail.
constexpr int kMemoryLevel = 8;
constexpr int kFastLevel = 3;  // Pages of a live run are packed again and again.

std::string_view next_part(std::string_view& rest, char separator) {
  const size_t end = rest.find(separator);
  const std::string_view part = trim(rest.substr(0, end));
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return part;
}

}  // namespace

std::string gzip(std::string_view bytes) {
  z_stream stream = {};
  if (deflateInit2(&stream, kFastLevel, Z_DEFLATED, kGzipWindow, kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    return "";
  }
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  // zlib's interface is older than const.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const bool whole = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  packed.resize(whole ? stream.total_out : 0);
  deflateEnd(&stream);
  return packed;
}

bool accepts_gzip(std::string_view accept_encoding) {
  while (!accept_encoding.empty()) {
    std::string_view coding = next_part(accept_encoding, ',');
    if (!equal_ignoring_case(next_part(coding, ';'), "gzip")) continue;
    next_part(coding, '=');
    return coding.empty() || parse_double(coding).value_or(0) > 0;
  }
  return false;
}

}  // namespace plateau
