// SPDX-License-Identifier: Apache-2.0
#include "recording/wire.h"

#include <zlib.h>

#include <bit>

namespace plateau {

void put_varint(std::string& out, uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>((value & 0x7f) | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

void put_double(std::string& out, double value) {
  auto bits = std::bit_cast<uint64_t>(value);
  for (int i = 0; i < 8; ++i, bits >>= 8) out.push_back(static_cast<char>(bits & 0xff));
}

void put_u32(std::string& out, uint32_t value) {
  for (int i = 0; i < 4; ++i, value >>= 8) out.push_back(static_cast<char>(value & 0xff));
}

void put_text(std::string& out, std::string_view text) {
  put_varint(out, text.size());
  out += text;
}

uint32_t crc32_of(std::string_view bytes) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

uint8_t WireReader::byte() {
  if (!ok_ || at_ == bytes_.size()) {
    ok_ = false;
    return 0;
  }
  return static_cast<uint8_t>(bytes_[at_++]);
}

uint64_t WireReader::varint() {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const uint64_t part = byte();
    if (!ok_) return 0;
    // The tenth byte has room for one bit.
    if (shift == 63 && part > 1) break;
    value |= (part & 0x7f) << shift;
    if (part < 0x80) return value;
  }
  ok_ = false;
  return 0;
}

double WireReader::real() {
  uint64_t bits = 0;
  const std::string_view raw = take(8);
  for (size_t i = raw.size(); i-- > 0;) bits = bits << 8 | static_cast<uint8_t>(raw[i]);
  return std::bit_cast<double>(bits);
}

uint32_t WireReader::u32() {
  uint32_t value = 0;
  const std::string_view raw = take(4);
  for (size_t i = raw.size(); i-- > 0;) value = value << 8 | static_cast<uint8_t>(raw[i]);
  return value;
}

std::string_view WireReader::text() {
  const uint64_t size = varint();
  if (size > left()) ok_ = false;
  return ok_ ? take(static_cast<size_t>(size)) : std::string_view();
}

std::string_view WireReader::take(size_t size) {
  if (!ok_ || size > left()) {
    ok_ = false;
    return {};
  }
  const std::string_view part = bytes_.substr(at_, size);
  at_ += size;
  return part;
}

}  // namespace plateau
