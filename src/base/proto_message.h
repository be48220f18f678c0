// SPDX-License-Identifier: Apache-2.0
// Writes messages of protocol buffers by hand: the few we send are a handful of fields each, and a
// library for them would weigh more than this file.
//
// A message is a run of fields; a field is a key (number * 8 + wire type) and a value: a varint
// (type 0), eight bytes (type 1), or a length and bytes (type 2) for texts, messages and packed
// numbers.
//
// Worked bytes: field 3, value 300 is 18 ac 02: key 3*8+0 = 0x18, and 300 in groups of seven bits,
// lowest first, all but the last with the top bit set.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plateau {

class ProtoMessage {
 public:
  ProtoMessage& number(uint32_t name, uint64_t value) {
    if (value == 0) return *this;  // The default is not written.
    varint(uint64_t{name} << 3);
    varint(value);
    return *this;
  }
  ProtoMessage& real(uint32_t name, double value) {
    auto bits = std::bit_cast<uint64_t>(value);
    if (bits == 0) return *this;
    varint((uint64_t{name} << 3) | 1);
    for (int i = 0; i < 8; ++i, bits >>= 8) bytes_ += static_cast<char>(bits & 0xff);
    return *this;
  }
  ProtoMessage& bytes(uint32_t name, std::string_view value) {
    varint((uint64_t{name} << 3) | 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  ProtoMessage& message(uint32_t name, const ProtoMessage& value) {
    return bytes(name, value.bytes_);
  }
  ProtoMessage& packed(uint32_t name, const std::vector<uint64_t>& values) {
    ProtoMessage inner;
    for (const uint64_t value : values) inner.varint(value);
    return message(name, inner);
  }
  [[nodiscard]] const std::string& text() const { return bytes_; }

 private:
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7f) | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

}  // namespace plateau
