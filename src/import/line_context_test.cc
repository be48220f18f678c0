// SPDX-License-Identifier: Apache-2.0
#include "import/line_context.h"

#include <gtest/gtest.h>

#include "import/matrix_header.h"

namespace plateau {
namespace {

TEST(LineContext, TagsOfALoggerNameNothing) {
  const std::string_view tags = "[0.44s][info][gc,heap     ] GC(0) 5";
  EXPECT_TRUE(closes_a_tag(tags, tags.find("] GC")));
  const std::string_view place = "[utils.py:783:see_memory_usage] MA 10.5 GB";
  EXPECT_TRUE(closes_a_tag(place, place.find(']')));
  EXPECT_FALSE(closes_a_tag("[Memory] 5 MB", 7));
  EXPECT_FALSE(closes_a_tag("Memory] 5 MB", 6));
}

TEST(LineContext, AFigureInBracketsSaysTheUnitOfTheOneBeforeIt) {
  const std::string_view line = "MALLOC: =    307871744 (  293.6 MiB) Actual memory used";
  const Numeral number = read_numeral(line, line.find('3'), {});
  const SameInBrackets same = same_in_brackets(line, number, {});
  EXPECT_EQ(same.unit_mb, 1e-6);
  EXPECT_EQ(line.substr(same.end), " Actual memory used");
}

TEST(LineContext, AnAmountThatEverWasIsSaidBehindIt) {
  const std::string_view line = "profile (1024 MB allocated cumulatively, 512 MB currently in use)";
  EXPECT_TRUE(is_cumulative(line, read_numeral(line, line.find("1024"), {})));
  EXPECT_FALSE(is_cumulative(line, read_numeral(line, line.find("512"), {})));
}

TEST(LineContext, AnotherFigureInBracketsSaysNothing) {
  for (const std::string_view line : {"heap 512 (of 4 GiB)", "rss 300 (12 MB)", "rss 300 (12 %)",
                                      "rss 300 (peak)", "rss 300 ("}) {
    const Numeral number = read_numeral(line, line.find_first_of("0123456789"), {});
    EXPECT_EQ(same_in_brackets(line, number, {}).end, 0U) << line;
  }
}

TEST(Sections, AHeadingHoldsForTheLinesFurtherRight) {
  Sections sections;
  sections.see("    FB Memory Usage", false);
  EXPECT_EQ(sections.over("        Used : 5120 MiB"), "FB Memory Usage");
  sections.see("        Used : 5120 MiB", true);
  EXPECT_EQ(sections.over("    Temperature : 61"), "");
  sections.see("    BAR1 Memory Usage", false);
  EXPECT_EQ(sections.over("        Used : 8 MiB"), "BAR1 Memory Usage");
}

TEST(Sections, AHeadingWithAColonHoldsUntilTheNextOrAnEmptyLine) {
  Sections sections;
  sections.see("Arena 0:", true);
  EXPECT_EQ(sections.over("in use bytes = 5"), "Arena 0:");
  sections.see("Total (incl. mmap):", false);
  EXPECT_EQ(sections.over("in use bytes = 6"), "Total (incl. mmap):");
  sections.see("", false);
  EXPECT_EQ(sections.over("in use bytes = 7"), "");
}

TEST(Matrix, RowsAreWordsAndThenNumbers) {
  const MatrixRow row = matrix_row("  Native Heap   40004   39870       76");
  EXPECT_EQ(row.name, "Native Heap");
  EXPECT_EQ(row.numbers.size(), 3U);
  EXPECT_TRUE(matrix_row("Mem: 5 6 7").numbers.empty());
  EXPECT_TRUE(matrix_row("4711 python 5 6").numbers.empty());
  EXPECT_TRUE(matrix_row("only words here").numbers.empty());
}

TEST(Matrix, AUnitInBracketsIsAColumnOfItsOwn) {
  const auto names = matrix_names("          used (Mb) gc trigger (Mb) max used (Mb)");
  ASSERT_EQ(names.size(), 6U);
  EXPECT_EQ(names[1], "used (Mb)");
  EXPECT_EQ(names[3], "gc trigger (Mb)");
}

TEST(LineContext, ANumberIsPartOfANameWhereAnotherOfItsKindFollows) {
  const std::string_view workers = "mem: w0=199M w1=318M";
  EXPECT_TRUE(numbers_a_name(workers, workers.find("w0"), workers.find('=')));
  const std::string_view alone = "rank0: 512 MB of 900 MB";
  EXPECT_FALSE(numbers_a_name(alone, 0, alone.find(':'))) << "whose line it is, not one of several";
  const std::string_view other = "gpu0=12% gpus=2";
  EXPECT_FALSE(numbers_a_name(other, 0, other.find('=')));
}

TEST(LineContext, PlacesAreNumbersThatCountUpBeforeColons) {
  const std::string_view line = "RSS(MB) 0:3098 1:3110 2:3301";
  for (const std::string_view place : {" 0:", " 1:", " 2:"}) {
    const size_t at = line.find(place) + 1;
    EXPECT_EQ(end_of_place(line, at), at + 1) << place;
  }
  EXPECT_EQ(end_of_place("mem at 10:18 was 5", 7), 0U) << "a time";
  EXPECT_EQ(end_of_place("mem 3:512 7:513", 4), 0U) << "they do not count up";
}

TEST(LineContext, ACapacityBehindASlashIsPassedOverForTheName) {
  const std::string_view line = "9.00GiB/64.00GiB memory";
  EXPECT_EQ(line.substr(behind_capacity(line, 7, {})), " memory");
  EXPECT_EQ(behind_capacity("12 MB/s memory", 5, {}), 5U);
  EXPECT_EQ(behind_capacity("12.0/16.0 CPU", 4, {}), 4U) << "no amounts of memory";
}

}  // namespace
}  // namespace plateau
