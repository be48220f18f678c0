// SPDX-License-Identifier: Apache-2.0
// What a collector writes before each line, and lines of others between the rows of a table, change
// nothing in what is read.
#include "import/envelope.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "import/import.h"

namespace plateau {
namespace {

const std::string kForms = std::string(PLATEAU_SOURCE_DIR) + "/tests/fixtures/forms/";

std::vector<std::string> lines_of_form(const std::string& name) {
  std::ifstream in(kForms + name);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string clock(size_t second) {
  const auto two = [](size_t n) { return (n < 10 ? "0" : "") + std::to_string(n); };
  return two(10 + second / 3600) + ":" + two(second / 60 % 60) + ":" + two(second % 60);
}

std::vector<double> figures_of(const Result<std::vector<Run>>& runs) {
  std::vector<double> mb;
  if (!runs.ok() || runs.value().size() != 1) return mb;
  for (const Series& series : runs.value().front().series) {
    for (const double value : series.mb) {
      if (!std::isnan(value)) mb.push_back(value);
    }
  }
  return mb;
}

std::string named(const testing::TestParamInfo<const char*>& info) {
  std::string name = info.param;
  name.resize(name.find('.'));
  return name;
}

class BehindAPrefix : public testing::TestWithParam<const char*> {};

TEST_P(BehindAPrefix, ReadsWhatItReadsWithoutIt) {
  const std::vector<double> plain = figures_of(import_file(kForms + GetParam()));
  ASSERT_FALSE(plain.empty());
  for (const std::string tag : {"build7 app[2231]: ", "app-7d9f INFO  "}) {
    std::string text;
    size_t second = 0;
    for (const std::string& line : lines_of_form(GetParam())) {
      text += "2026-03-03T" + clock(second++) + "Z " + tag;
      text += line;
      text += '\n';
    }
    EXPECT_EQ(figures_of(import_bytes("log", text)), plain) << tag;
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, BehindAPrefix,
                         testing::Values("header_above_no_units.txt", "markdown_delta.md",
                                         "kubectl_top.txt", "smem.txt", "erlang_memory.txt",
                                         "jstat_gc.txt", "memory_gb_table.txt", "mac_top.txt",
                                         "malloc_stats.txt", "r_gc.txt", "statm_dated.txt",
                                         "names_between_bars.txt", "dumpsys_meminfo.txt"),
                         named);

class AmongOtherLines : public testing::TestWithParam<const char*> {};

TEST_P(AmongOtherLines, RowsOfATableAreToldFromThem) {
  const std::vector<double> plain = figures_of(import_file(kForms + GetParam()));
  ASSERT_FALSE(plain.empty());
  std::string text;
  size_t at = 0;
  for (const std::string& line : lines_of_form(GetParam())) {
    text += line + "\n";
    if (++at % 3 == 0) {
      text += "INFO  flushed " + std::to_string(at * 37 % 901) + " rows to shard-" +
              std::to_string(at % 9) + " in 0." + std::to_string(10 + at % 80) + " s\n";
    }
    if (at % 4 == 0) {
      text += "WARN retry " + std::to_string(at % 3) + "/3 for job " + std::to_string(4000 + at) +
              " (queue=" + std::to_string(at * 7 % 80) + ")\n";
    }
  }
  EXPECT_EQ(figures_of(import_bytes("log", text)), plain);
}

INSTANTIATE_TEST_SUITE_P(Forms, AmongOtherLines,
                         testing::Values("kubectl_top.txt", "ghc_live.txt", "heap_beside_ram.txt",
                                         "jstat_gcutil.txt", "time_of_processes.txt"),
                         named);

// It may say whose line it is.
TEST(Envelope, AWordThatDiffersOrMeansSomethingIsNoPartOfIt) {
  std::vector<std::string> lines;
  for (int i = 0; i < 40; ++i) {
    lines.push_back("2026-03-03 10:00:" + std::to_string(10 + i) + " app worker-" +
                    std::to_string(i % 2) + " step " + std::to_string(i));
  }
  const std::vector<std::string_view> views(lines.begin(), lines.end());
  const auto envelope = Envelope::of(views);
  ASSERT_TRUE(envelope.has_value());
  EXPECT_EQ(envelope->open(lines[3])->rest, "worker-1 step 3");
}

TEST(Envelope, LinesWithoutATimeHaveNone) {
  const std::vector<std::string_view> lines(40, "app INFO rss 300 MB");
  EXPECT_FALSE(Envelope::of(lines).has_value());
}

// "10:00:03 GET /v1/items 200 61.2 KB": each far from the last, as no memory is.
TEST(Envelope, SizesOfRequestsAreNoMemory) {
  std::string text;
  for (size_t i = 0; i < 60; ++i) {
    text += clock(i) + " GET /v1/items/" + std::to_string(i * 37 % 97) + " 200 " +
            std::to_string(1 + i * i * 7919 % 89) + ".5 KB\n";
  }
  EXPECT_FALSE(import_bytes("log", text).ok());
}

// Taken for what is used, a leak would be a fall.
TEST(Envelope, WhatStandsBehindAnAmountMaySayThatItIsFree) {
  for (const std::string between : {" GB free / 24.00 GB total", " GB free of 24.00 GB"}) {
    std::string text;
    for (int i = 0; i < 40; ++i) {
      text += "VRAM: " + std::to_string(20 - i / 4) + "." + std::to_string(i % 4) + between + "\n";
    }
    const auto runs = import_bytes("log", text);
    ASSERT_TRUE(runs.ok()) << between;
    const std::vector<double>& mb = runs.value().front().series.front().mb;
    EXPECT_GT(mb.back() - mb.front(), 5000) << between;
  }
}

// Of Erlang "System Memory" is a part, and the total is what is in use.
TEST(Envelope, ATotalThatIsTheSumOfTwoOthersIsNoCapacity) {
  std::string text;
  for (int i = 0; i < 40; ++i) {
    const int processes = 3296 + i % 7;
    const int system = 59018 + 31 * i;
    text += "Total Memory: " + std::to_string(processes + system) +
            " MiB\nProcesses Memory: " + std::to_string(processes) +
            " MiB\nSystem Memory: " + std::to_string(system) + " MiB\n";
  }
  const auto runs = import_bytes("log", text);
  ASSERT_TRUE(runs.ok());
  EXPECT_NEAR(runs.value().front().series.front().mb.front(), (3296 + 59018) * 1.048576, 1);
}

// "系统内存" is not "累计分配内存", though both say memory.
TEST(Envelope, NamesInOtherAlphabetsAreToldApart) {
  std::string text;
  for (int i = 0; i < 40; ++i) {
    text += "  当前分配内存: " + std::to_string(15 + i) +
            " MB\n  累计分配内存: " + std::to_string(900 + 37 * i + i % 5) +
            " MB\n  系统内存: " + std::to_string(60 + i) + " MB\n";
  }
  const auto runs = import_bytes("log", text);
  ASSERT_TRUE(runs.ok());
  const std::vector<double>& mb = runs.value().front().series.front().mb;
  EXPECT_EQ(mb.size(), 40U);
  EXPECT_EQ(mb.front(), 15);
  EXPECT_EQ(mb.back(), 54);
}

// "host", "node", "gpu" mean something, but host42 is a machine.
TEST(Envelope, TheNameOfAMachineMayHoldAWordThatMeansSomething) {
  for (const std::string host : {"host42", "node-3", "gpu01"}) {
    std::string text;
    for (size_t i = 0; i < 40; ++i) {
      const std::string behind = i % 20 == 0 ? "keys       mem      clients"
                                             : "506        " + std::to_string(12 + i) + ".25M   1";
      text += "Apr  7 " + clock(i) + " " + host + " app[4411]: " + behind + "\n";
    }
    const auto runs = import_bytes("log", text);
    ASSERT_TRUE(runs.ok()) << host << ": " << runs.error().message;
    EXPECT_EQ(runs.value()[0].instants.size(), 38U) << host;
    EXPECT_NEAR(runs.value()[0].series[0].mb.back(), 51.25 * 1.048576, 1e-6) << host;
  }
}

TEST(Envelope, HalfOfATagIsNoneOfTheCollectorsWords) {
  std::string text;
  for (size_t i = 0; i < 60; ++i) {
    text += "2026-04-07 " + clock(60 * (i / 3)) + " [Shard " + std::to_string(i % 3) +
            "] RAM: " + std::to_string(300 + 10 * (i % 3) + i) + " MB | Ping: 40ms\n";
  }
  ImportOptions asked;
  asked.wishes.series = "shard";
  for (const ImportOptions& options : {ImportOptions{}, asked}) {
    const auto runs = import_bytes("log", text, options);
    ASSERT_TRUE(runs.ok()) << runs.error().message;
    ASSERT_EQ(runs.value()[0].processes.size(), 3U);
    EXPECT_EQ(runs.value()[0].processes[2].name, "Shard 2");
  }
  asked.wishes.series = "guild";
  EXPECT_FALSE(import_bytes("log", text, asked).ok()) << "no such series";
}

}  // namespace
}  // namespace plateau
