// SPDX-License-Identifier: Apache-2.0
#include "import/proto_reader.h"

#include <bit>

namespace plateau {

uint64_t little_endian(std::string_view bytes, size_t size) {
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) {
    value |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[i])) << (8 * i);
  }
  return value;
}

bool ProtoReader::next() {
  if (!wire_.ok() || wire_.at_end()) return false;
  const uint64_t tag = wire_.varint();
  number_ = tag >> 3;
  form_ = static_cast<Form>(tag & 7);
  integer_ = 0;
  bytes_ = {};
  switch (form_) {
    case Form::varint:
      integer_ = wire_.varint();
      break;
    case Form::fixed64:
      bytes_ = wire_.take(8);
      break;
    case Form::fixed32:
      bytes_ = wire_.take(4);
      break;
    case Form::bytes:
      bytes_ = wire_.text();
      break;
    default:  // Groups, which nobody writes any more.
      wire_.fail();
  }
  if (number_ == 0) wire_.fail();
  return wire_.ok();
}

double ProtoReader::real() const {
  if (form_ == Form::fixed64) return std::bit_cast<double>(little_endian(bytes_, 8));
  if (form_ == Form::fixed32) {
    return std::bit_cast<float>(static_cast<uint32_t>(little_endian(bytes_, 4)));
  }
  return 0;
}

}  // namespace plateau
