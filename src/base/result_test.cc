// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <gtest/gtest.h>

namespace plateau {
namespace {

Result<void> checked(int value) {
  if (value < 0) return Error{Error::Kind::usage, "below zero"};
  return {};
}

TEST(ResultOfNothing, IsWellUntilAnErrorIsReturned) {
  EXPECT_TRUE(checked(1));
  EXPECT_TRUE(checked(1).ok());

  const Result<void> wrong = checked(-1);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().kind, Error::Kind::usage);
  EXPECT_EQ(wrong.error().message, "below zero");
}

TEST(ResultOfNothing, ErrorPassesOnThroughAnotherType) {
  const auto outer = []() -> Result<int> {
    if (const Result<void> inner = checked(-1); !inner) return inner.error();
    return 1;
  };
  EXPECT_EQ(outer().error().message, "below zero");
}

}  // namespace
}  // namespace plateau
