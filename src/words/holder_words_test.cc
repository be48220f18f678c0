// SPDX-License-Identifier: Apache-2.0
#include "words/holder_words.h"

#include <gtest/gtest.h>

#include "verdict/verdict.h"
#include "words/paragraphs.h"

namespace plateau {
namespace {

Holder losses() {
  Holder holder;
  holder.kind = HolderKind::local;
  holder.path = "losses";
  holder.type = "list";
  holder.function = "train";
  holder.file = "/job/train.py";
  holder.line = 41;
  holder.length_before = 400;
  holder.length_after = 12'400;
  holder.holds = {{"torch.Tensor", 12'400, true}};
  holder.tensors_looked_at = holder.tensors_with_graph = 8;
  return holder;
}

TEST(HolderWords, NameDepthRateAndLines) {
  Holder holder = losses();
  holder.graph_depth = 31;
  holder.added_at = {{"/job/train.py", 43, 40}};
  EXPECT_EQ(holder_words(holder, 4000),
            "list `losses` in `train` (train.py:41): 400 → 12,400 torch.Tensor, with grad_fn and "
            "graphs up to 31 operations deep, 3 per step, added at train.py:43, made at "
            "train.py:40");
}

TEST(HolderWords, AdviceAboutTensorsIsForThoseWhoKeepSome) {
  Holder holder = losses();
  Verdict verdict;
  verdict.holders = {holder};
  const Cause cause{.name = "python-objects", .weight = 0.8};
  EXPECT_NE(plain(fix_of(cause, verdict)).find("tensors"), std::string::npos);
  verdict.holders[0].holds = {{"bytearray", 12'400, false}};
  EXPECT_EQ(plain(fix_of(cause, verdict)).find("tensors"), std::string::npos);
}

TEST(HolderWords, OneLineThatMakesAndAdds) {
  Holder holder = losses();
  holder.added_at = {{"/job/train.py", 43, 43}};
  EXPECT_TRUE(holder_words(holder).ends_with(", with grad_fn, made and added at train.py:43"))
      << holder_words(holder);
}

TEST(HolderWords, SeveralLinesAreListedAndThenCounted) {
  Holder holder = losses();
  holder.added_at = {{"a.py", 1, 1}, {"a.py", 2, 0}, {"b.py", 3, 3}, {"b.py", 4, 0}};
  EXPECT_TRUE(holder_words(holder).ends_with(", added at a.py:1, 2, b.py:3 and 1 more"))
      << holder_words(holder);
}

TEST(HolderWords, ATensorWhoseGraphDeepensIsNoContainer) {
  Holder holder = losses();
  holder.path = "total";
  holder.type = "torch.Tensor";
  holder.holds.clear();
  holder.length_before = holder.length_after = 1;
  holder.graph_depth_before = 120;
  holder.graph_depth = 12'120;
  holder.added_at = {{"/job/train.py", 44, 44}};
  EXPECT_EQ(holder_words(holder, 12'000),
            "torch.Tensor `total` in `train` (train.py:41): its graph went from 120 to 12,120 "
            "operations deep, 1 per step, deepened at train.py:44");
}

TEST(HolderWords, ImagesThatStayDecodedAreNamedWhereTheirListIsMade) {
  Holder holder = losses();
  holder.length_before = holder.length_after;
  holder.holds = {{"PIL.Image.Image", 12'400, false}};
  holder.tensors_looked_at = holder.tensors_with_graph = 0;
  holder.added_at = {{"/job/train.py", 12, 12}};
  EXPECT_TRUE(holder_words(holder).ends_with(
      "each of which stays decoded once it was used, assigned at train.py:12"))
      << holder_words(holder);
}

}  // namespace
}  // namespace plateau
