// SPDX-License-Identifier: Apache-2.0
#include "base/compression.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

namespace plateau {
namespace {

constexpr int kGzipWindow = 15 + 16;  // The largest window, with gzip's own head and tail.
constexpr int kMemoryLevel = 9;
// Of 4, 6 and 9 the one after which a track hardly shrinks while the time still doubles.
constexpr int kDeflateLevel = 6;

}  // namespace

std::string gzipped(std::string_view plain, int level) {
  z_stream stream = {};
  if (deflateInit2(&stream, level, Z_DEFLATED, kGzipWindow, kMemoryLevel, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    return "";
  }
  std::string packed(deflateBound(&stream, plain.size()), '\0');
  // zlib counts in 32 bits, and its interface is older than const.
  constexpr size_t kMostAtOnce = std::numeric_limits<uInt>::max();
  size_t taken = 0, made = 0;
  int status = Z_OK;
  while (status == Z_OK) {
    const auto in = static_cast<uInt>(std::min(plain.size() - taken, kMostAtOnce));
    const auto out = static_cast<uInt>(std::min(packed.size() - made, kMostAtOnce));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data() + taken));
    stream.avail_in = in;
    stream.next_out = reinterpret_cast<Bytef*>(packed.data() + made);
    stream.avail_out = out;
    status = deflate(&stream, taken + in == plain.size() ? Z_FINISH : Z_NO_FLUSH);
    taken += in - stream.avail_in;
    made += out - stream.avail_out;
  }
  packed.resize(status == Z_STREAM_END ? made : 0);
  deflateEnd(&stream);
  return packed;
}

std::string deflated(std::string_view plain) {
  uLongf size = compressBound(plain.size());
  std::string out(size, '\0');
  // Fails only for want of memory; what is then written is no stream, and reading it says so.
  if (compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                reinterpret_cast<const Bytef*>(plain.data()), plain.size(),
                kDeflateLevel) != Z_OK) {
    size = 0;
  }
  out.resize(size);
  return out;
}

std::optional<std::string> inflated(std::string_view bytes, size_t size) {
  // One byte more than wanted, so that a stream that goes on is told from one that ends there.
  std::string out(size + 1, '\0');
  uLongf got = out.size();
  const int status = uncompress(reinterpret_cast<Bytef*>(out.data()), &got,
                                reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  if (status != Z_OK || got != size) return std::nullopt;
  out.resize(size);
  return out;
}

}  // namespace plateau
