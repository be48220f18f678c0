// SPDX-License-Identifier: Apache-2.0
#include "cli/exit_code.h"

#include <gtest/gtest.h>

namespace plateau {
namespace {

TEST(ExitCode, WordDecidesWhenNothingIsExpected) {
  EXPECT_EQ(exit_code_for(Word::plateau, {}), 0);
  EXPECT_EQ(exit_code_for(Word::warming, {}), 0);
  EXPECT_EQ(exit_code_for(Word::leak, {}), 1);
  EXPECT_EQ(exit_code_for(Word::undecided, {}), 3);
}

TEST(ExitCode, ExpectedWordAloneIsFine) {
  EXPECT_EQ(exit_code_for(Word::leak, Word::leak), 0);
  EXPECT_EQ(exit_code_for(Word::plateau, Word::leak), 1);
  EXPECT_EQ(exit_code_for(Word::warming, Word::plateau), 1);
  EXPECT_EQ(exit_code_for(Word::undecided, Word::plateau), 3);
  EXPECT_EQ(exit_code_for(Word::undecided, Word::undecided), 0);
}

TEST(ExitCode, OfSeveralFilesTheWorstCounts) {
  EXPECT_EQ(worse_exit_code(kExitFine, kExitUndecided), kExitUndecided);
  EXPECT_EQ(worse_exit_code(kExitLeak, kExitUndecided), kExitLeak);
  EXPECT_EQ(worse_exit_code(kExitLeak, kExitTrouble), kExitTrouble);
}

}  // namespace
}  // namespace plateau
