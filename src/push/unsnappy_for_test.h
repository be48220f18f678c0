// SPDX-License-Identifier: Apache-2.0
// Reads Snappy's block format, all of it and strictly. For tests.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "recording/wire.h"

namespace plateau::push {

inline std::optional<std::string> unsnappy(std::string_view block) {
  WireReader reader(block);
  const uint64_t size = reader.varint();
  std::string plain;
  while (reader.ok() && !reader.at_end()) {
    const unsigned tag = reader.byte();
    const auto little_endian = [&reader](size_t width) {
      size_t value = 0;
      for (size_t i = 0; i < width; ++i) value |= static_cast<size_t>(reader.byte()) << (8 * i);
      return value;
    };
    if ((tag & 3U) == 0) {
      size_t length = tag >> 2;
      if (length >= 60) length = little_endian(length - 59);
      plain += reader.take(length + 1);
      continue;
    }
    const size_t length = (tag & 3U) == 1 ? (tag >> 2 & 7U) + 4 : (tag >> 2) + 1;
    const size_t distance = (tag & 3U) == 1 ? (size_t{tag >> 5} << 8 | reader.byte())
                                            : little_endian((tag & 3U) == 2 ? 2 : 4);
    if (distance == 0 || distance > plain.size() || plain.size() + length > size) return {};
    for (size_t i = 0; i < length; ++i) plain += plain[plain.size() - distance];
  }
  if (!reader.ok() || plain.size() != size) return {};
  return plain;
}

}  // namespace plateau::push
