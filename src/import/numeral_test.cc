// SPDX-License-Identifier: Apache-2.0
#include "import/numeral.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "import/cells.h"
#include "import/line_stamp.h"
#include "import/slot_name.h"
#include "import/unit_evidence.h"

namespace plateau {
namespace {

Numeral first_in(std::string_view text, const NumberStyle& style = {}) {
  size_t at = 0;
  while (at < text.size() && !is_digit(text[at])) ++at;
  return read_numeral(text, at, style);
}

TEST(Numeral, UnitsAreReadGluedOrApart) {
  EXPECT_EQ(first_in("7,159 MB").value, 7159);
  EXPECT_EQ(first_in("7,159 MB").unit, Numeral::Unit::memory);
  EXPECT_EQ(first_in("604.5M").unit, Numeral::Unit::memory);
  EXPECT_EQ(first_in("12 m").unit, Numeral::Unit::none) << "metres, minutes, anything";
  EXPECT_EQ(first_in("88.0   Mb :").unit_mb, 1);
}

TEST(Numeral, ChangesRatesTimesAndPercentAreNoAmounts) {
  EXPECT_TRUE(first_in("(+102644 KB").has_sign);
  EXPECT_EQ(first_in("3208 KB/it.").unit, Numeral::Unit::rate);
  EXPECT_EQ(first_in("10 MB per step").unit, Numeral::Unit::rate);
  EXPECT_EQ(first_in("5.4 GB/32 GB").unit, Numeral::Unit::memory) << "a pair, not a rate";
  EXPECT_EQ(first_in("12.5 ms").unit, Numeral::Unit::time);
  EXPECT_DOUBLE_EQ(first_in("@5000ms").unit_s, 1e-3);
  EXPECT_DOUBLE_EQ(first_in("2 hours").unit_s, 3600);
  EXPECT_DOUBLE_EQ(first_in("60 fps").unit_s, 0);
  EXPECT_EQ(first_in("43.2%").unit, Numeral::Unit::percent);
}

TEST(Numeral, DecimalCommasAreLearnedFromTheFile) {
  EXPECT_EQ(first_in("232,9g").value, 232.9) << "two groups cannot be";
  EXPECT_EQ(first_in("3,995 GB").value, 3995);
  EXPECT_EQ(first_in("3,995 GB", {.decimal_comma = true}).value, 3.995);
  NumberStyleEvidence evidence;
  evidence.see("CPU 92,5 %, Speicher 3,9 GB");
  EXPECT_TRUE(evidence.style().decimal_comma);
  NumberStyleEvidence english;
  english.see("1,234,567 KB and 3.5 GB");
  EXPECT_FALSE(english.style().decimal_comma);
}

TEST(Numeral, ThousandsMayBeSeparatedByThinSpacesAndApostrophes) {
  EXPECT_EQ(first_in("1\xe2\x80\xaf"
                     "234\xe2\x80\xaf"
                     "567 KiB")
                .value,
            1234567);
  EXPECT_EQ(first_in("1'234'567 KiB").value, 1234567);
  EXPECT_EQ(first_in("1.234.567 KB", {.decimal_comma = true}).value, 1234567);
}

TEST(Numeral, GroupsBehindPlainSpacesAreLearnedFromTheFile) {
  EXPECT_EQ(first_in("4 005 MB").value, 4) << "two numbers, as far as one line tells";
  EXPECT_EQ(first_in("4 005 MB", {.space_groups = true}).value, 4005);
  EXPECT_EQ(first_in("1 234 567 kB", {.space_groups = true}).value, 1234567);
  EXPECT_EQ(first_in("12 4 005 MB", {.space_groups = true}).value, 12);
  NumberStyleEvidence grouped;
  for (const char* line : {"RSS: 985 MB", "RSS: 1 005 MB", "RSS: 1 350 MB", "RSS: 2 020 MB"})
    grouped.see(line);
  EXPECT_TRUE(grouped.style().space_groups);
  NumberStyleEvidence columns;
  for (const char* line : {"4 985 MB", "5 350 MB", "6 420 MB", "7 77 MB"}) columns.see(line);
  EXPECT_FALSE(columns.style().space_groups) << "no group begins with 0";
  NumberStyleEvidence padded;
  for (const char* line : {"rank 0 005 4 MB", "rank 0 006 4 MB"}) padded.see(line);
  EXPECT_FALSE(padded.style().space_groups) << "no amount of memory";
}

TEST(Numeral, VersionsAndNamesAreNoNumbers) {
  EXPECT_TRUE(first_in("torch 2.13.0").garbled);
  EXPECT_TRUE(first_in("rank0").glued);
  EXPECT_TRUE(first_in("worker-3").glued);
}

TEST(LineStamp, DatesOfManyMakesAreFound) {
  for (const char* text : {"2026-11-15T10:00:00Z", "2026-11-15 10:00", "15.11.2026 10:00:00",
                           "11/15/2026, 10:00:00 AM", "Sun Nov 15 10:00:00 UTC 2026",
                           "Sun 15 Nov 2026 10:00:00 GMT", "15/Nov/2026:10:00:00"}) {
    const auto stamp = stamp_at(text, 0);
    ASSERT_TRUE(stamp) << text;
    EXPECT_EQ(stamp->kind, Stamp::Kind::epoch) << text;
    EXPECT_EQ(stamp->seconds, 1794736800) << text;
  }
}

TEST(LineStamp, ADateWithoutItsYearCountsOn) {
  const auto day_first = stamp_at("14 Dec 12:00:01 - 20 clients", 0);
  ASSERT_TRUE(day_first);
  EXPECT_EQ(day_first->length, 15U);
  EXPECT_FALSE(stamp_at("Dec 12:00:01 - 20 clients", 0)) << "an hour is no day";
  const auto a = stamp_at("Sep 23 01:53:44 Mem:", 0);
  const auto b = stamp_at("Sep 24 01:53:45 Mem:", 0);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(b->seconds - a->seconds, 86401);
}

TEST(LineStamp, NumbersAndWordsAreNoDates) {
  for (const char* text :
       {"310000 kB", "12.5 MB", "march of progress", "1/2 done", "3-4 workers"}) {
    EXPECT_FALSE(stamp_at(text, 0)) << text;
  }
}

TEST(UnitEvidence, PagesTellBytesFromKib) {
  EXPECT_EQ(unit_by_pages({23470080, 22827008, 22388736, 22351872, 22347776}).name, "bytes");
  EXPECT_EQ(unit_by_pages({180000, 180004, 180236, 181000, 182344}).name, "KiB");
  EXPECT_EQ(unit_by_pages({95.3359375, 95.0078125, 92.3828125, 96.62109375, 98.6171875}).name,
            "MiB");
  EXPECT_EQ(unit_by_pages({180000, 180003, 180236, 181000, 182344}).mb, 0) << "one is no multiple";
  EXPECT_EQ(unit_by_pages({4096, 8192}).mb, 0) << "two may be chance";
}

TEST(SlotName, WordsAreWeighedAgainstEachOther) {
  EXPECT_GT(weigh_name("rss").weight, weigh_name("heapUsed").weight);
  EXPECT_GT(weigh_name("heapUsed").weight, weigh_name("heapTotal").weight);
  EXPECT_LT(weigh_name("CPU usage").weight, 0);
  EXPECT_LT(weigh_name("swap used").weight, weigh_name("memory used").weight);
  EXPECT_TRUE(weigh_name("Memory available").free);
  EXPECT_TRUE(weigh_name("max_mem").peak);
  EXPECT_FALSE(weigh_name("gpu_utilization").label);
}

TEST(UnitEvidence, WhatCountsInHundredsIsNotCountedInPages) {
  std::vector<double> hundreds, pages, blocks;
  for (int i = 0; i < 20; ++i) {
    hundreds.push_back(70000 - 100 * i);
    pages.push_back(180000 + 4 * (i * i % 97));
    blocks.push_back(21440 + 16 * (i * i % 97));
  }
  EXPECT_EQ(unit_by_pages(hundreds).mb, 0);
  std::vector<double> regular;
  for (int i = 0; i < 20; ++i) regular.push_back(180004 + 1028 * i);
  EXPECT_EQ(unit_by_pages(regular).name, "KiB") << "a megabyte leaks each time";
  EXPECT_EQ(unit_by_pages(pages).name, "KiB");
  EXPECT_EQ(unit_by_pages(blocks).name, "bytes") << "blocks of a small heap";
  EXPECT_FALSE(unit_by_pages(blocks).sure);
}

TEST(SlotName, WordsOfARuntimeAreOfEightBytes) {
  EXPECT_EQ(weigh_name("heap_words").unit_mb, kWordMb);
  EXPECT_TRUE(weigh_name("top_heap_words").peak);
  EXPECT_EQ(weigh_name("minor_words").unit_mb, 0) << "nothing says memory";
}

TEST(SlotName, WhatSomethingIsKnownByIsNoMemory) {
  EXPECT_LT(weigh_name("mem-info id").weight, 0);
  EXPECT_GT(weigh_name("memory of id 7 in use").weight, 0);
}

TEST(Numeral, SchedulersAndFrenchToolsWriteUnitsInFull) {
  const std::string_view line = "MEM: 812 Mbytes";
  EXPECT_EQ(read_numeral(line, 5, {}).unit_mb, 1);
  const std::string_view french = "memoire: 812 Mio";
  EXPECT_NEAR(read_numeral(french, 9, {}).unit_mb, 1.048576, 1e-9);
}

TEST(Numeral, PointsOfDatesAndCommasBehindFractionsSayNothingOfTheStyle) {
  NumberStyleEvidence dates;
  for (int i = 0; i < 8; ++i) dates.see("18.11.2026 09:00:00 Working set: 61.440 KB");
  EXPECT_TRUE(dates.style().decimal_comma) << "the points are groups of thousands";
  NumberStyleEvidence cells;
  for (int i = 0; i < 8; ++i) cells.see("a,324139119.07,10");
  EXPECT_FALSE(cells.style().decimal_comma);
}

TEST(PlainLine, OtherAlphabetsSayMemoryToo) {
  std::string storage;
  EXPECT_EQ(plain_line("память: 212,3 МБ", storage), "memory: 212,3 MB");
  EXPECT_TRUE(plain_line("メモリ使用量: 212MB", storage).starts_with("memory"));
  EXPECT_EQ(plain_line("Mémoire utilisée", storage), "Memoire utilisee");
}

}  // namespace
}  // namespace plateau
