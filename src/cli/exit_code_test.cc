// SPDX-License-Identifier: Apache-2.0
#include "cli/exit_code.h"

#include <gtest/gtest.h>

namespace plateau {
namespace {

Verdict said(Word word) {
  Verdict verdict;
  verdict.word = word;
  return verdict;
}

TEST(ExitCode, WordDecidesWhenNothingIsExpected) {
  EXPECT_EQ(exit_code_for(said(Word::plateau)), 0);
  EXPECT_EQ(exit_code_for(said(Word::warming)), 0);
  EXPECT_EQ(exit_code_for(said(Word::leak)), 1);
  EXPECT_EQ(exit_code_for(said(Word::undecided)), 3);
}

TEST(ExitCode, ExpectedWordAloneIsFine) {
  EXPECT_EQ(exit_code_for(said(Word::leak), {.word = Word::leak}), 0);
  EXPECT_EQ(exit_code_for(said(Word::plateau), {.word = Word::leak}), 1);
  EXPECT_EQ(exit_code_for(said(Word::warming), {.word = Word::plateau}), 1);
  EXPECT_EQ(exit_code_for(said(Word::undecided), {.word = Word::plateau}), 3);
  EXPECT_EQ(exit_code_for(said(Word::undecided), {.word = Word::undecided}), 0);
}

TEST(ExitCode, TheExpectedWordIsNotEnoughIfItSettledTooLate) {
  Verdict late = said(Word::plateau);
  late.last_step = 100;
  late.settled = Verdict::Settled{60, 1000, {}};
  EXPECT_EQ(exit_code_for(late, {.word = Word::plateau, .settle_by = 60}), 0);
  EXPECT_EQ(exit_code_for(late, {.word = Word::plateau, .settle_by = 50}), 1);
}

TEST(ExitCode, OfSeveralFilesTheWorstCounts) {
  EXPECT_EQ(worse_exit_code(kExitFine, kExitUndecided), kExitUndecided);
  EXPECT_EQ(worse_exit_code(kExitLeak, kExitUndecided), kExitLeak);
  EXPECT_EQ(worse_exit_code(kExitLeak, kExitTrouble), kExitTrouble);
}

}  // namespace
}  // namespace plateau
