// SPDX-License-Identifier: Apache-2.0
// Checksums keep a fuzzer out: bytes that it made up never get past the frame. So the same bytes
// are given twice: as a file, and cut into records that are framed as they should be. A record is
// as long as the two bytes before it say.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plateau {

inline std::vector<std::string> cut_into_records(const uint8_t* data, size_t size) {
  std::vector<std::string> records;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  while (rest.size() > 2) {
    const size_t length =
        static_cast<uint8_t>(rest[0]) + 256u * static_cast<size_t>(static_cast<uint8_t>(rest[1]));
    rest.remove_prefix(2);
    records.emplace_back(rest.substr(0, length));
    rest.remove_prefix(std::min(length, rest.size()));
  }
  return records;
}

}  // namespace plateau
