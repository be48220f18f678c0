// SPDX-License-Identifier: Apache-2.0
#include "base/pattern.h"

#include <gtest/gtest.h>

namespace plateau {
namespace {

TEST(Pattern, IsFoundAnywhereUnlessItSaysWhere) {
  EXPECT_TRUE(Pattern::of("pixel")->is_in("getpixels"));
  EXPECT_FALSE(Pattern::of("^pixel")->is_in("getpixels"));
  EXPECT_TRUE(Pattern::of("images\\.py:4[14]")->is_in("lazy_images.py:41"));
}

TEST(Pattern, CaseMattersUnlessToldOtherwise) {
  EXPECT_FALSE(Pattern::of("rss")->is_in("RSS (MB)"));
  EXPECT_TRUE(Pattern::of("rss", Pattern::Letters::any_case)->is_in("RSS (MB)"));
}

TEST(Pattern, WhatIsNoneIsNullopt) {
  for (const char* text : {"(", "[a", "*a", "a{2"}) EXPECT_FALSE(Pattern::of(text)) << text;
}

TEST(Pattern, ALongNameDoesNotExhaustTheStack) {
  const std::string name(1 << 18, 'a');
  EXPECT_FALSE(Pattern::of("(a|b)*c")->is_in(name));
  EXPECT_TRUE(Pattern::of("(a|b)*")->is_in(name));
}

}  // namespace
}  // namespace plateau
