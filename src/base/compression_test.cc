// SPDX-License-Identifier: Apache-2.0
#include "base/compression.h"

#include <gtest/gtest.h>

#include "base/testing/gunzipped.h"

namespace plateau {
namespace {

std::string some_text() {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += std::to_string(i * 7919 % 1000) + ",";
  return text;
}

TEST(Gzip, UnpacksToWhatWasPacked) {
  for (const int level : {1, 3, 6, 9}) {
    EXPECT_EQ(gunzipped(gzipped(some_text(), level)), some_text());
  }
  EXPECT_EQ(gunzipped(gzipped("", 6)), "");
}

TEST(Gzip, SameBytesGiveTheSameStreamWithoutADate) {
  const std::string packed = gzipped(some_text(), 6);
  EXPECT_EQ(packed, gzipped(some_text(), 6));
  EXPECT_EQ(packed.substr(4, 4), std::string(4, '\0'));
  EXPECT_LT(packed.size(), some_text().size() / 2);
}

TEST(Inflated, SizeMustBeTheOneTold) {
  const std::string text = some_text();
  const std::string packed = deflated(text);
  EXPECT_EQ(inflated(packed, text.size()), text);
  EXPECT_FALSE(inflated(packed, text.size() - 1));
  EXPECT_FALSE(inflated(packed, text.size() + 1));
  EXPECT_EQ(inflated(deflated(""), 0), "");
}

TEST(Inflated, DamagedOrCutStreamIsNothing) {
  const std::string text = some_text();
  std::string packed = deflated(text);
  EXPECT_FALSE(inflated(packed.substr(0, packed.size() / 2), text.size()));
  packed[packed.size() / 2] = static_cast<char>(packed[packed.size() / 2] ^ 0x40);
  EXPECT_FALSE(inflated(packed, text.size()));
  EXPECT_FALSE(inflated("", 3));
}

}  // namespace
}  // namespace plateau
