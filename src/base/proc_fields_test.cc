// SPDX-License-Identifier: Apache-2.0
#include "base/proc_fields.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <string>

namespace plateau {
namespace {

constexpr std::string_view kStatus =
    "Name:\tPid: 7\nState:\tS (sleeping)\nPid:\t4711\nVmRSS:\t  1234 "
    "kB\nSigCgt:\t0000000180014a07\n"
    "Empty:\nno colon here\nTracerPid:\t12";

TEST(FieldOf, FindsWholeKeysAtTheStartOfALineOnly) {
  EXPECT_EQ(field_of(kStatus, "Pid"), "4711");
  EXPECT_EQ(field_of(kStatus, "Name"), "Pid: 7");
  EXPECT_EQ(field_of(kStatus, "State"), "S (sleeping)");
  EXPECT_EQ(field_of(kStatus, "Stat"), "");
  EXPECT_EQ(field_of(kStatus, "Empty"), "");
  EXPECT_EQ(field_of("", "Pid"), "");
}

TEST(FieldOf, LastLineNeedsNoEnd) {
  EXPECT_EQ(number_field(kStatus, "TracerPid"), 12U);
}

TEST(SeccompFilters, AreCountedOrElseTheModeOrElseUnknown) {
  EXPECT_EQ(seccomp_filters("Seccomp:\t2\nSeccomp_filters:\t3\n"), 3);
  EXPECT_EQ(seccomp_filters("Seccomp:\t2\n"), 2);
  EXPECT_EQ(seccomp_filters("Name:\tx\n"), -1);
  EXPECT_EQ(seccomp_filters("Seccomp:\tnone\n"), -1);
}

TEST(NumberField, UnitsAreLeftAndTextIsZero) {
  EXPECT_EQ(number_field(kStatus, "VmRSS"), 1234U);
  EXPECT_EQ(number_field(kStatus, "State"), 0U);
  EXPECT_EQ(number_field("A: -3", "A"), 0U);
  EXPECT_EQ(number_field("A: 99999999999999999999999", "A"), std::numeric_limits<uint64_t>::max());
}

TEST(BitsField, IsHexadecimalOrNothing) {
  EXPECT_EQ(bits_field(kStatus, "SigCgt"), 0x180014a07U);
  EXPECT_EQ(bits_field("A: 12xy", "A"), 0U);
  EXPECT_EQ(bits_field(kStatus, "Missing"), 0U);
}

TEST(SplitStat, NameMayHoldParenthesesBlanksAndLineEnds) {
  const auto stat = split_stat("42 (a) R 9\n(b) S 1 42 42");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->pid, 42U);
  EXPECT_EQ(stat->name, "a) R 9\n(b");
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->rest, " 1 42 42");
  EXPECT_FALSE(stat->ended());
  EXPECT_TRUE(split_stat("42 (x) Z 1")->ended());
}

TEST(SplitStat, CutOffLineIsNoStat) {
  for (const std::string_view text :
       {"", "42", "42 ", "42 (", "42 (x", "42 (x)", "42 (x) ", "42)"}) {
    EXPECT_FALSE(split_stat(text)) << text;
  }
}

RC_GTEST_PROP(ProcFields, AnyBytesAreTaken, (const std::string& bytes)) {
  const auto inside = [&](std::string_view view) {
    return view.empty() || (view.data() >= bytes.data() &&
                            view.data() + view.size() <= bytes.data() + bytes.size());
  };
  RC_ASSERT(inside(field_of(bytes, "a")));
  const auto stat = split_stat(bytes);
  RC_ASSERT(!stat || (inside(stat->name) && inside(stat->rest)));
}

}  // namespace
}  // namespace plateau
