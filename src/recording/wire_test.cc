// SPDX-License-Identifier: Apache-2.0
#include "recording/wire.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <bit>
#include <limits>

namespace plateau {
namespace {

TEST(Wire, NumbersComeBackAsTheyWere) {
  const bool holds = rc::check([](uint64_t plain, int64_t number, const std::string& text) {
    std::string bytes;
    put_varint(bytes, plain);
    put_varint(bytes, zigzag(number));
    put_text(bytes, text);
    put_double(bytes, std::bit_cast<double>(plain));
    WireReader in(bytes);
    RC_ASSERT(in.varint() == plain);
    RC_ASSERT(in.signed_varint() == number);
    RC_ASSERT(in.text() == text);
    RC_ASSERT(std::bit_cast<uint64_t>(in.real()) == plain);
    RC_ASSERT(in.ok() && in.at_end());
  });
  EXPECT_TRUE(holds);
}

TEST(Wire, ExtremesOfBothSignsSurviveZigzag) {
  for (const int64_t number : {std::numeric_limits<int64_t>::min(), int64_t{-1}, int64_t{0},
                               std::numeric_limits<int64_t>::max()}) {
    EXPECT_EQ(unzigzag(zigzag(number)), number);
  }
  EXPECT_EQ(zigzag(-1), 1u);
  EXPECT_EQ(zigzag(1), 2u);
}

TEST(Wire, SmallNumbersTakeOneByte) {
  std::string bytes;
  put_varint(bytes, 127);
  put_varint(bytes, 128);
  EXPECT_EQ(bytes, std::string("\x7f\x80\x01"));
}

TEST(WireReader, FailureSticksAndNeverPassesTheEnd) {
  WireReader in(
      std::string_view("\x05"
                       "abc"));
  EXPECT_EQ(in.text(), "");
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.byte(), 0);
  EXPECT_EQ(in.varint(), 0u);
}

TEST(WireReader, VarintOfMoreThan64BitsIsRefused) {
  WireReader longest(std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
  EXPECT_EQ(longest.varint(), std::numeric_limits<uint64_t>::max());
  EXPECT_TRUE(longest.ok());
  WireReader too_large(std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"));
  too_large.varint();
  EXPECT_FALSE(too_large.ok());
  WireReader too_long(std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x81\x00", 11));
  too_long.varint();
  EXPECT_FALSE(too_long.ok());
}

TEST(Wire, ChecksumIsTheOneOfGzip) {
  EXPECT_EQ(crc32_of("123456789"), 0xcbf43926u);
}

}  // namespace
}  // namespace plateau
