// SPDX-License-Identifier: Apache-2.0
#include "symbols/rust_names.h"

#include <gtest/gtest.h>

#include "symbols/demangle.h"

namespace plateau {
namespace {

TEST(RustNames, LegacyLosesItsHashAndItsEscapes) {
  EXPECT_EQ(demangled("_ZN4core3fmt5Write9write_str17h0123456789abcdefE"),
            "core::fmt::Write::write_str");
  EXPECT_EQ(demangled("_ZN70_$LT$alloc..vec..Vec$LT$T$C$A$GT$$u20$as$u20$core..ops..drop..Drop$GT$"
                      "4drop17h4f0a1b2c3d4e5f60E"),
            "<alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop");
}

TEST(RustNames, V0IsReadAsItsGrammarSays) {
  EXPECT_EQ(demangled("_RNvNtCs1234_7mycrate3foo3bar"), "mycrate::foo::bar");
  EXPECT_EQ(demangled("_RNCNvC4test4main0"), "test::main::{closure#0}");
  EXPECT_EQ(demangled("_RINvNtC3std3mem8align_ofjdE"), "std::mem::align_of::<usize, f64>");
  EXPECT_EQ(demangled("_RNvMC7mycrateNtB2_3Foo3new"), "<mycrate::Foo>::new");
  EXPECT_EQ(demangled("_RNvXC7mycrateNtB2_3FooNtNtC4core3fmt5Debug3fmt"),
            "<mycrate::Foo as core::fmt::Debug>::fmt");
  EXPECT_EQ(demangled("_RINvC1a1fRShKj3_E"), "a::f::<&[u8], 3>");
}

TEST(RustNames, NonsenseStaysAsItIs) {
  for (const std::string symbol : {"_R", "_RN", "_RNvB_", "_RNvNtC", "_RIIIIIIIIII",
                                   "_RNvC99999999999999999999x", "_RNvBzzzzzz_3foo"}) {
    EXPECT_EQ(demangled(symbol), symbol);
  }
  std::string deep = "_R";
  for (int i = 0; i < 5000; ++i) deep += "I";
  EXPECT_EQ(demangled(deep), deep);
  EXPECT_EQ(demangled("_ZN3foo3barE"), "foo::bar");
}

}  // namespace
}  // namespace plateau
