// SPDX-License-Identifier: Apache-2.0
#include "words/finding_table.h"

#include <gmock/gmock.h>

#include <set>

#include "words/sentence.h"

namespace plateau {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(FindingTable, EveryKindHasAnIdOfItsOwnAndAWording) {
  std::set<std::string_view> ids;
  for (size_t i = 0; i < kFindingKinds; ++i) {
    const FindingRow& row = row_of(static_cast<FindingKind>(i));
    EXPECT_TRUE(ids.insert(row.id).second) << row.id;
    EXPECT_EQ(row.pattern.empty(), i == 0) << row.id;
  }
}

TEST(FindingTable, BracketsAndBracesAreBalanced) {
  for (size_t i = 0; i < kFindingKinds; ++i) {
    int depth = 0;
    for (const char c : row_of(static_cast<FindingKind>(i)).pattern) {
      depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
      ASSERT_GE(depth, 0);
    }
    EXPECT_EQ(depth, 0) << row_of(static_cast<FindingKind>(i)).id;
  }
}

TEST(FindingTable, TellsTheProductionLogsCause) {
  const Finding finding{FindingKind::stopped_with_first_pass,
                        {{"epoch_steps", 83, Unit::moment}},
                        {{"source", "663 examples / 8 per step"}}};
  const Sentence sentence = tell(finding, Telling{});
  EXPECT_EQ(plain(sentence),
            "Growth stopped where the first pass over the data ended: 663 examples / 8 per step = "
            "step 83.");
  EXPECT_EQ(sentence.at(1).text, "step 83");
  EXPECT_EQ(sentence.at(1).field, "epoch_steps");
}

TEST(FindingTable, NamesAnExplanationByItsPhrase) {
  const std::vector<Explanation> known = {
      {.name = "capacity", .phrase = "bounded cache, full at {when}", .when = 120}};
  const Finding finding{FindingKind::bounded_hardly_fits,
                        {{"weight", 0.03, Unit::share}},
                        {{"bounded", "capacity", NameKind::explanation}}};
  EXPECT_THAT(plain(tell(finding, Telling{.explanations = known})),
              HasSubstr("bounded cache, full at step 120, has 3 %"));
}

TEST(Sentence, AnOptionalPartIsLeftOutWithItsWords) {
  const std::string_view pattern = "{spikes} spike{spikes:|s}[ every {period}[ or {other}]]";
  EXPECT_EQ(plain(fill(pattern, {{"spikes", "1", ""}})), "1 spike");
  EXPECT_EQ(plain(fill(pattern, {{"spikes", "3", ""}, {"period", "9 s", ""}})),
            "3 spikes every 9 s");
}

TEST(Sentence, ANumberMayStandInOneFormAlone) {
  const std::string_view pattern = "the other {ranks:is|# are} level";
  EXPECT_EQ(plain(fill(pattern, {{"ranks", "1", ""}})), "the other is level");
  EXPECT_EQ(plain(fill(pattern, {{"ranks", "7", ""}})), "the other 7 are level");
}

TEST(Sentence, BecomesAClauseAndBackWithoutTouchingNames) {
  EXPECT_EQ(plain(as_clause({{"Growth stopped at ", ""}, {"step 83", "epoch_steps"}, {".", ""}})),
            "growth stopped at step 83");
  EXPECT_EQ(as_clause({{"At ", ""}, {"step 83", "epoch_steps"}, {".", ""}}).size(), 2U);
  EXPECT_EQ(plain(as_clause({{"RSS grew.", ""}})), "RSS grew");
  EXPECT_EQ(plain(as_sentence({{"growth stopped", ""}})), "Growth stopped.");
}

TEST(Sentence, AMissingValueIsShownNotHidden) {
  EXPECT_EQ(plain(fill("at {step}", {})), "at ?");
}

TEST(Sentence, APairSharesItsUnit) {
  const Finding finding{FindingKind::none, {{"a", 5430, Unit::mb}, {"b", 17400, Unit::mb}}, {}};
  EXPECT_EQ(plain(fill("{a>b}", finding, Telling{})), "5.43 → 17.4 GB");
  EXPECT_EQ(plain(fill("{a-b}", finding, Telling{})), "5.43–17.4 GB");
}

TEST(Sentence, NamesFromALogAreNoTemplates) {
  const Finding finding{
      FindingKind::objects_steady, {{"last", 3, Unit::count}}, {{"counted", "{last} [x] {a>b}"}}};
  EXPECT_EQ(plain(tell(finding, Telling{})), "Not objects: {last} [x] {a>b} stays at 3.");
}

}  // namespace
}  // namespace plateau
