// SPDX-License-Identifier: Apache-2.0
#include "recording/deflate.h"

#include <zlib.h>

namespace plateau {
namespace {

// Of 4, 6 and 9 the one after which a track hardly shrinks while the time still doubles.
constexpr int kLevel = 6;

}  // namespace

std::string deflated(std::string_view plain) {
  uLongf size = compressBound(plain.size());
  std::string out(size, '\0');
  // Fails only for want of memory; what is then written is no stream, and reading it says so.
  if (compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                reinterpret_cast<const Bytef*>(plain.data()), plain.size(), kLevel) != Z_OK) {
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
