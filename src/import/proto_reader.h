// SPDX-License-Identifier: Apache-2.0
// The wire form of a protocol buffer, field by field, for readers that know the few fields they
// want and pass over the rest.
//
//   ProtoReader fields(bytes);
//   while (fields.next()) {
//     if (fields.number() == 1) time = fields.real();
//     if (fields.number() == 5) read_summary(fields.bytes());
//   }
//
// The bytes are a stranger's: nothing is read past the end, and what breaks the form ends the
// loop with ok() false. A value asked for in another form than it has is 0 or empty.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "recording/wire.h"

namespace plateau {

class ProtoReader {
 public:
  explicit ProtoReader(std::string_view bytes) : wire_(bytes) {}

  // Goes to the next field; false at the end, or where the bytes are no fields.
  bool next();

  [[nodiscard]] uint64_t number() const { return number_; }
  // Wire type 0.
  [[nodiscard]] int64_t integer() const { return static_cast<int64_t>(integer_); }
  // Wire types 1 and 5: a double, or a float.
  [[nodiscard]] double real() const;
  // Wire type 2: text, bytes, a message, or packed numbers.
  [[nodiscard]] std::string_view bytes() const { return bytes_; }

  [[nodiscard]] bool ok() const { return wire_.ok(); }

 private:
  enum class Form : uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

  WireReader wire_;
  uint64_t number_ = 0;
  Form form_ = Form::varint;
  uint64_t integer_ = 0;
  std::string_view bytes_;
};

// `size` bytes at the start of `bytes`, lowest first. Requires: at most 8, and that many are there.
uint64_t little_endian(std::string_view bytes, size_t size);

}  // namespace plateau
