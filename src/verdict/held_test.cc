// SPDX-License-Identifier: Apache-2.0
// What a look at the holders of a process makes of the causes.
#include <gtest/gtest.h>

#include "verdict/test_runs.h"
#include "verdict/verdict.h"

namespace plateau {
namespace {

plateau::Run climb_held_by(Holder holder) {
  plateau::Run run = with_epoch(run_of(250, 2, [](double step) { return 500 + 2 * step; }), 100);
  run.holders = HolderGrowth{.pid = 1, .from_step = 20, .to_step = 200};
  run.holders->holders = {std::move(holder)};
  return run;
}

Holder total() {
  Holder holder;
  holder.kind = HolderKind::local;
  holder.path = "total";
  holder.type = "torch.Tensor";
  holder.length_before = holder.length_after = 1;
  return holder;
}

TEST(Held, ATensorWhoseGraphDeepensIsACauseLikeAListThatGrows) {
  Holder holder = total();
  holder.graph_depth_before = 60;
  holder.graph_depth = 600;
  const Verdict verdict = judge(climb_held_by(holder));
  EXPECT_EQ(verdict.word, Word::leak);
  ASSERT_FALSE(verdict.causes.empty());
  EXPECT_EQ(verdict.causes[0].name, "python-objects");
  const Finding& seen = verdict.causes[0].evidence;
  EXPECT_EQ(seen.kind, FindingKind::graph_deepened);
  EXPECT_EQ(seen.number("first")->value, 60);
  EXPECT_EQ(seen.number("last")->value, 600);
  EXPECT_EQ(seen.named("holder")->text, "total");
}

TEST(Held, WhatStaysAsItIsIsNone) {
  const Verdict verdict = judge(climb_held_by(total()));
  ASSERT_FALSE(verdict.causes.empty());
  EXPECT_NE(verdict.causes[0].evidence.kind, FindingKind::graph_deepened);
  EXPECT_NE(verdict.causes[0].evidence.kind, FindingKind::holder_grew);
}

}  // namespace
}  // namespace plateau
