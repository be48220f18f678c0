// SPDX-License-Identifier: Apache-2.0
// What a look at the holders of a process makes of the causes.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "verdict/examples_seen.h"
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

// 400 examples by 4, loaded some steps ahead: a cache that is full when the last new one was
// loaded.
plateau::Run filled_by_the_first_pass(HolderKind kind, uint64_t before, uint64_t after) {
  static constexpr double kLastNew = 96;
  static constexpr double kFull = 90;
  plateau::Run run =
      with_epoch(run_of(250, 2, [](double step) { return 500 + 2 * std::min(step, kFull); }), 100);
  Gauge seen;
  seen.name = kExamplesSeen;
  for (const Instant& instant : run.instants) {
    seen.value.push_back(400 / kLastNew * std::min(static_cast<double>(instant.step), kLastNew));
  }
  run.gauges.push_back(std::move(seen));
  run.context.examples = Fact{.value = 400, .source = "the DataLoader"};
  Holder cache;
  cache.kind = kind;
  cache.path = "decoded";
  cache.type = "dict";
  cache.length_before = before;
  cache.length_after = after;
  run.holders = HolderGrowth{.pid = 1, .from_step = 20, .to_step = 200};
  run.holders->holders = {std::move(cache)};
  return run;
}

TEST(Held, AnLruCacheThatGrewUntilTheFirstPassEndedIsOnePerExample) {
  const Verdict verdict = judge(filled_by_the_first_pass(HolderKind::lru_cache, 80, 170));
  EXPECT_EQ(verdict.word, Word::plateau);
  ASSERT_FALSE(verdict.causes.empty());
  EXPECT_EQ(verdict.causes[0].name, "per-example-cache");
}

TEST(Held, ADictWithAnItemForEachExampleAfterTheFirstPassIsACacheOfThem) {
  const Verdict full = judge(filled_by_the_first_pass(HolderKind::global, 80, 400));
  ASSERT_FALSE(full.causes.empty());
  EXPECT_EQ(full.causes[0].name, "per-example-cache");
  for (const Cause& cause : full.causes) {
    EXPECT_NE(cause.evidence.kind, FindingKind::holder_grew) << cause.name;
  }
  const Verdict other = judge(filled_by_the_first_pass(HolderKind::global, 80, 401));
  EXPECT_TRUE(std::ranges::any_of(other.causes, [](const Cause& cause) {
    return cause.evidence.kind == FindingKind::holder_grew;
  }));
}

}  // namespace
}  // namespace plateau
