// SPDX-License-Identifier: Apache-2.0
// Holders written and read, with the fields that were added behind them.
#include <gtest/gtest.h>

#include "recording/record_codec.h"

namespace plateau {
namespace {

HolderGrowth two_holders() {
  HolderGrowth growth{.pid = 7, .from_s = 1, .to_s = 2, .from_step = 3, .to_step = 9};
  Holder losses;
  losses.kind = HolderKind::local;
  losses.path = "losses";
  losses.length_before = 3;
  losses.length_after = 9;
  losses.holds = {{"torch.Tensor", 9, true}};
  growth.holders = {losses, losses};
  return growth;
}

TEST(HolderRecord, DepthsAndLinesComeBack) {
  HolderGrowth growth = two_holders();
  growth.holders[1].graph_depth = 12'120;
  growth.holders[1].graph_depth_before = 120;
  growth.holders[1].added_at = {{"train.py", 43, 40}, {"data.py", 7, 0}};
  const auto read = decode_record<HolderGrowth>(encode_record(growth));
  ASSERT_TRUE(read);
  ASSERT_EQ(read->holders.size(), 2U);
  EXPECT_EQ(read->holders[0].graph_depth, -1);
  EXPECT_TRUE(read->holders[0].added_at.empty());
  const Holder& second = read->holders[1];
  EXPECT_EQ(second.deepened(), 12'000);
  ASSERT_EQ(second.added_at.size(), 2U);
  EXPECT_EQ(second.added_at[0].file, "train.py");
  EXPECT_EQ(second.added_at[0].line, 43);
  EXPECT_EQ(second.added_at[0].made_line, 40);
  EXPECT_EQ(second.added_at[1].made_line, 0);
}

TEST(HolderRecord, OneWithoutThemIsWhatEarlierVersionsWrote) {
  const std::string plain = encode_record(two_holders());
  HolderGrowth growth = two_holders();
  growth.holders[0].graph_depth = 5;
  const std::string more = encode_record(growth);
  EXPECT_TRUE(more.starts_with(plain));
  const auto read = decode_record<HolderGrowth>(plain);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->holders[0].graph_depth, -1);
}

TEST(HolderRecord, WhatIsCutOffIsNoRecord) {
  HolderGrowth growth = two_holders();
  growth.holders[0].added_at = {{"train.py", 43, 40}};
  const std::string whole = encode_record(growth);
  const size_t plain = encode_record(two_holders()).size();
  for (size_t bytes = plain + 1; bytes < whole.size(); ++bytes) {
    EXPECT_FALSE(decode_record<HolderGrowth>(whole.substr(0, bytes))) << bytes;
  }
}

}  // namespace
}  // namespace plateau
