// SPDX-License-Identifier: Apache-2.0
#include "base/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace plateau {
namespace {

// The check value of the polynomial, and two of RFC 3720, section B.4.
TEST(Crc32c, AgreesWithPublishedValues) {
  EXPECT_EQ(crc32c_of("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c_of(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c_of(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(crc32c_of(""), 0u);
}

// The length field of the first record of any event file, 24 bytes, as TensorBoard writes it.
TEST(Crc32c, MaskedFormIsThatOfTfrecords) {
  const std::string length("\x18\0\0\0\0\0\0\0", 8);
  EXPECT_EQ(masked_crc32c(length), 0x224b7fa3u);
}

}  // namespace
}  // namespace plateau
