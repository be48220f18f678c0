// SPDX-License-Identifier: Apache-2.0
// For tests: a gzip stream unpacked.
#pragma once

#include <zlib.h>

#include <optional>
#include <string>

namespace plateau {

// nullopt if the stream is damaged, cut off, or unpacks to more than `most` bytes.
inline std::optional<std::string> gunzipped(const std::string& bytes, size_t most = 1 << 22) {
  z_stream stream = {};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) return std::nullopt;
  std::string plain(most, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(plain.data());
  stream.avail_out = static_cast<uInt>(plain.size());
  const int status = inflate(&stream, Z_FINISH);
  plain.resize(stream.total_out);
  inflateEnd(&stream);
  return status == Z_STREAM_END ? std::optional(plain) : std::nullopt;
}

}  // namespace plateau
