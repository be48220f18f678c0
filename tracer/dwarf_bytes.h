// SPDX-License-Identifier: Apache-2.0
// Reading the number formats of DWARF from bytes that may be anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace plateau::trace {

// Takes values off the front of a run of bytes. Past the end it gives zeros and sets `bad`.
class DwarfBytes {
 public:
  DwarfBytes(const uint8_t* begin, const uint8_t* end) : at_(begin), end_(end) {}

  template <typename T>
  T take() {
    T value{};
    if (static_cast<size_t>(end_ - at_) < sizeof(T)) {
      bad_ = true;
      at_ = end_;
      return value;
    }
    memcpy(&value, at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }
  uint64_t take_unsigned() {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = take<uint8_t>();
      if (shift < 64) value |= uint64_t{byte & 0x7fU} << shift;
      if ((byte & 0x80U) == 0) return value;
    }
  }
  int64_t take_signed() {
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte = 0;
    do {
      byte = take<uint8_t>();
      if (shift < 64) value |= uint64_t{byte & 0x7fU} << shift;
      shift += 7;
    } while ((byte & 0x80U) != 0);
    if (shift < 64 && (byte & 0x40U) != 0) value |= ~uint64_t{0} << shift;
    return static_cast<int64_t>(value);
  }
  // A pointer in one of the exception header encodings, absolute or relative to itself.
  uint64_t take_encoded(uint8_t encoding) {
    const auto here = reinterpret_cast<uint64_t>(at_);
    uint64_t value = take_format(encoding & 0x0fU);
    switch (encoding & 0x70U) {
      case 0x00:
        break;
      case 0x10:
        value += here;
        break;
      default:
        bad_ = true;
    }
    return value;
  }
  uint64_t take_format(unsigned format) {
    switch (format) {
      case 0x00:
      case 0x04:
      case 0x0c:
        return take<uint64_t>();
      case 0x01:
        return take_unsigned();
      case 0x02:
        return take<uint16_t>();
      case 0x03:
        return take<uint32_t>();
      case 0x09:
        return static_cast<uint64_t>(take_signed());
      case 0x0a:
        return static_cast<uint64_t>(int64_t{take<int16_t>()});
      case 0x0b:
        return static_cast<uint64_t>(int64_t{take<int32_t>()});
      default:
        bad_ = true;
        return 0;
    }
  }
  void skip(uint64_t count) {
    if (count > static_cast<uint64_t>(end_ - at_)) {
      bad_ = true;
      at_ = end_;
    } else {
      at_ += count;
    }
  }
  const uint8_t* at() const { return at_; }
  const uint8_t* end() const { return end_; }
  bool bad() const { return bad_; }
  bool done() const { return bad_ || at_ == end_; }

 private:
  const uint8_t* at_;
  const uint8_t* end_;
  bool bad_ = false;
};

}  // namespace plateau::trace
