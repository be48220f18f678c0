// SPDX-License-Identifier: Apache-2.0
#include "push/snappy.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "recording/wire.h"

namespace plateau::push {
namespace {

constexpr size_t kShortestMatch = 4;
constexpr size_t kLongestCopy = 64;
constexpr size_t kFarthest = 65535;  // Copies with two bytes of distance.
constexpr int kTableBits = 14;
constexpr uint8_t kLiteral = 0;
constexpr uint8_t kCopyTwoBytes = 2;

uint32_t four_at(std::string_view bytes, size_t at) {
  uint32_t word = 0;
  std::memcpy(&word, bytes.data() + at, sizeof word);
  return word;
}

size_t slot_of(uint32_t word) {
  return (word * 0x9E3779B1U) >> (32 - kTableBits);
}

void put_literal(std::string& out, std::string_view bytes) {
  if (bytes.empty()) return;
  size_t length = bytes.size() - 1;
  if (length < 60) {
    out += static_cast<char>(length << 2 | kLiteral);
  } else {
    size_t width = 1;
    while (width < 4 && length >> (8 * width) != 0) ++width;
    out += static_cast<char>((59 + width) << 2 | kLiteral);
    for (size_t i = 0; i < width; ++i, length >>= 8) out += static_cast<char>(length & 0xff);
  }
  out += bytes;
}

void put_copy(std::string& out, size_t distance, size_t length) {
  while (length > 0) {
    const size_t part = std::min(length, kLongestCopy);
    out += static_cast<char>((part - 1) << 2 | kCopyTwoBytes);
    out += static_cast<char>(distance & 0xff);
    out += static_cast<char>(distance >> 8);
    length -= part;
  }
}

}  // namespace

std::string snappy_block(std::string_view plain) {
  std::string out;
  put_varint(out, plain.size());
  std::array<uint32_t, 1U << kTableBits> seen{};  // Where plus one; 0: nowhere yet.
  size_t told = 0;
  size_t at = 0;
  while (at + kShortestMatch <= plain.size()) {
    const uint32_t word = four_at(plain, at);
    uint32_t& slot = seen[slot_of(word)];
    const size_t before = slot;
    slot = static_cast<uint32_t>(at + 1);
    const bool match =
        before > 0 && at - (before - 1) <= kFarthest && four_at(plain, before - 1) == word;
    if (!match) {
      ++at;
      continue;
    }
    const size_t from = before - 1;
    size_t length = kShortestMatch;
    while (at + length < plain.size() && plain[from + length] == plain[at + length]) ++length;
    put_literal(out, plain.substr(told, at - told));
    put_copy(out, at - from, length);
    at += length;
    told = at;
  }
  put_literal(out, plain.substr(told));
  return out;
}

}  // namespace plateau::push
