// SPDX-License-Identifier: Apache-2.0
// Bytes packed and unpacked in memory, by zlib. Streams of unknown length are unpacked in
// import/inflate.cc instead, piece by piece.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace plateau {

// A gzip stream without a date, so that the same bytes give the same stream; empty if there is no
// memory for it. `level` 1 is the fastest, 9 the smallest.
std::string gzipped(std::string_view plain, int level);

// A zlib stream, whose plain size the reader will know.
std::string deflated(std::string_view plain);

// Exactly `size` plain bytes, or nullopt if the stream is damaged or holds more or less. Never
// allocates more than `size` and zlib's own window, whatever the stream says.
std::optional<std::string> inflated(std::string_view bytes, size_t size);

}  // namespace plateau
