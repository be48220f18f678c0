// SPDX-License-Identifier: Apache-2.0
#include "base/printable.h"

#include <gtest/gtest.h>

namespace plateau {
namespace {

TEST(PrintableText, EscapeSequencesVanishWhole) {
  EXPECT_EQ(printable("a\x1b[31;1mred\x1b[0m b"), "ared b");
  EXPECT_EQ(printable("\x1b]0;title\x07text"), "text");
  EXPECT_EQ(printable("\x1b]8;;http://x\x1b\\link"), "link");
  EXPECT_EQ(printable("end\x1b["), "end");
  EXPECT_EQ(printable("\x1b\x1b[2Jx"), "x");
}

TEST(PrintableText, ControlsNeverPass) {
  std::string bytes;
  for (int i = 1; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  bytes +=
      "\xc2\x9b"
      "31m\xe2\x80\xae";  // C1 CSI and a right-to-left override
  for (const char c : printable(bytes)) {
    EXPECT_FALSE((c >= 0 && c < 0x20) || c == 0x7f) << static_cast<int>(c);
  }
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m\xe2\x80\xaex"),
            "31mx");
}

TEST(PrintableText, LineEndsBecomeSpacesAndBadBytesAreMarked) {
  EXPECT_EQ(printable("a\nb\tc\xff"), "a b c\uFFFD");
}

}  // namespace
}  // namespace plateau
