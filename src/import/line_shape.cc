// SPDX-License-Identifier: Apache-2.0
#include "import/line_shape.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"

namespace plateau {
namespace {

constexpr uint64_t kTops = 0x8080808080808080ull;
constexpr uint64_t kMix = 0x9e3779b97f4a7c15ull;

uint64_t load8(const char* from) {
  uint64_t bytes = 0;
  std::memcpy(&bytes, from, 8);
  return bytes;
}

// The top bit of each byte that is no digit. '0' to '9' become 0 to 9; adding 0x76 sets the top bit
// of all others.
uint64_t other_bytes(uint64_t text) {
  const uint64_t values = text ^ 0x3030303030303030ull;
  return (((values & ~kTops) + 0x7676767676767676ull) | values) & kTops;
}

// The bytes with zeros for digits.
uint64_t without_digits(uint64_t text) {
  const uint64_t others = other_bytes(text) >> 7;
  return text & (others * 0xff);
}

uint64_t mixed(uint64_t hash, uint64_t bytes) {
  hash = (hash ^ bytes) * kMix;
  return hash ^ (hash >> 32);
}

}  // namespace

std::string digit_mask(std::string_view line) {
  std::string mask(line.size(), '\0');
  size_t at = 0;
  for (; at + 8 <= line.size(); at += 8) {
    const uint64_t others = other_bytes(load8(line.data() + at)) >> 7;
    const uint64_t digits = ~(others * 0xff);
    std::memcpy(mask.data() + at, &digits, 8);
  }
  for (; at < line.size(); ++at) {
    if (is_digit(line[at])) mask[at] = '\xff';
  }
  return mask;
}

bool same_shape(std::string_view known, std::string_view mask, std::string_view line) {
  if (known.size() != line.size()) return false;
  const size_t size = line.size();
  if (size < 8) {
    for (size_t i = 0; i < size; ++i) {
      if (mask[i] != 0 ? !is_digit(line[i]) : known[i] != line[i]) return false;
    }
    return true;
  }
  for (size_t at = 0; at < size; at += 8) {
    // The last eight bytes overlap those before.
    const size_t from = std::min(at, size - 8);
    const uint64_t digits = load8(mask.data() + from);
    const uint64_t text = load8(line.data() + from);
    if (((text ^ load8(known.data() + from)) & ~digits) != 0) return false;
    // Where digits belong, '0' to '9' leave 0 to 9; adding 0x76 sets the top bit of all others.
    const uint64_t values = (text ^ 0x3030303030303030ull) & digits;
    const uint64_t beyond = (values & 0x7f7f7f7f7f7f7f7full) + 0x7676767676767676ull;
    if (((beyond | values) & 0x8080808080808080ull) != 0) return false;
  }
  return true;
}

uint64_t shape_hash(std::string_view line) {
  uint64_t hash = line.size() * kMix;
  if (line.size() < 8) {
    uint64_t bytes = 0;
    std::memcpy(&bytes, line.data(), line.size());
    return mixed(hash, without_digits(bytes));
  }
  for (size_t at = 0; at < line.size(); at += 8) {
    hash = mixed(hash, without_digits(load8(line.data() + std::min(at, line.size() - 8))));
  }
  return hash;
}

}  // namespace plateau
