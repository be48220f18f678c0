// SPDX-License-Identifier: Apache-2.0
// What was typed at a prompt names the number below it.
#include "import/typed_line.h"

#include <gtest/gtest.h>

#include <string>

#include "import/import.h"

namespace plateau {
namespace {

TEST(TypedLine, ItsNameIsTheExpressionAndItsUnitWhatTheDivisorLeaves) {
  EXPECT_EQ(named_at_a_prompt(">>> psutil.Process().memory_info().rss"),
            "psutil.Process().memory_info().rss");
  EXPECT_EQ(named_at_a_prompt(">>> p.memory_info().rss / 1024 ** 2"), "p.memory_info().rss MiB");
  EXPECT_EQ(named_at_a_prompt("In [5]: p.memory_info().rss/1e6"), "p.memory_info().rss MB");
  EXPECT_EQ(named_at_a_prompt("PS C:\\srv> (Get-Process -Id 9).WorkingSet64 / 1MB"),
            "9).WorkingSet64 MiB");
  EXPECT_EQ(named_at_a_prompt("$ ps -o rss= -p 4411"), "rss=");
}

TEST(TypedLine, GetrusageCountsKib) {
  EXPECT_EQ(named_at_a_prompt(">>> getrusage(RUSAGE_SELF).ru_maxrss / 1024"),
            "getrusage(RUSAGE_SELF).ru_maxrss MiB");
}

TEST(TypedLine, TheNumberThatRPutsBeforeItsAnswersIsNone) {
  EXPECT_EQ(behind_answer_mark("[1] 61.2"), 4U);
  EXPECT_EQ(behind_answer_mark("[1] \"iteration 7\""), 4U);
  EXPECT_EQ(behind_answer_mark("[1] worker rss 5 MB"), 0U);
  EXPECT_EQ(behind_answer_mark("Out[12]: 61.2"), 9U);
}

TEST(TypedLine, APrefixAndATagAreNoPrompts) {
  EXPECT_EQ(named_at_a_prompt("worker-1> RSS: 512 MB"), "");
  EXPECT_EQ(named_at_a_prompt("main> rss=512"), "");
  EXPECT_EQ(named_at_a_prompt("<mem-info id=\"12\">"), "");
  EXPECT_EQ(named_at_a_prompt("memory in use:"), "");
  EXPECT_EQ(named_at_a_prompt(">>> fit(model)"), "");
}

TEST(TypedLine, ANotebookIsReadWithTheUnitThatWasTyped) {
  std::string text;
  for (int i = 0; i < 20; ++i) {
    const std::string cell = std::to_string(2 * i + 2);
    text += "In [" + std::to_string(2 * i + 1) + "]: fit(model)\n\n";
    text += "In [" + cell + "]: proc.memory_info().rss / 1e6\n";
    text += "Out[" + cell + "]: " + std::to_string(209 + 3 * i) + ".4776\n\n";
  }
  const auto runs = import_bytes("log", text);
  ASSERT_TRUE(runs.ok()) << runs.error().message;
  EXPECT_EQ(runs.value()[0].instants.size(), 20U);
  EXPECT_NEAR(runs.value()[0].series[0].mb.back(), 266.4776, 1e-6);
}

// A divisor that was typed stands still in every line; as memory it would be an all-clear.
TEST(TypedLine, WhatStandsInTheExpressionIsNoFigure) {
  std::string text;
  for (int i = 0; i < 30; ++i) {
    text += "10:00:" + std::to_string(10 + i) + " PS> (Get-Process -Id 9344).PrivateMemorySize64";
    text += " / 1MB\n10:00:" + std::to_string(10 + i) + " " + std::to_string(300 + 4 * i) + ".5\n";
  }
  const auto runs = import_bytes("log", text);
  ASSERT_TRUE(runs.ok()) << runs.error().message;
  EXPECT_GT(runs.value()[0].series[0].mb.back(), 300);
}

}  // namespace
}  // namespace plateau
