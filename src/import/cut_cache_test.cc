// SPDX-License-Identifier: Apache-2.0
#include "import/cut_cache.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "base/text.h"
#include "import/reading.h"

namespace plateau {
namespace {

const std::string kFixtures = std::string(PLATEAU_SOURCE_DIR) + "/tests/fixtures/";

// Everything that a reader takes from a row, as text.
std::string told(const CellRow& row, bool ours) {
  std::ostringstream out;
  out.precision(17);
  out << ours << row.starts_block << " prefix " << row.prefix << " time " << row.has_time;
  if (row.has_time) out << ' ' << static_cast<int>(row.time.kind) << ' ' << row.time.seconds;
  for (const LogCell& cell : row.cells) {
    out << "\n" << cell.column << ' ' << cell.text << ' ' << cell.numeric << cell.after_arrow;
    if (!cell.numeric) continue;
    out << ' ' << cell.number.value << ' ' << static_cast<int>(cell.number.unit) << ' '
        << cell.number.unit_mb << " of " << cell.limit_mb;
  }
  return out.str();
}

// Other digits in the same places, most of them a little later as logs have it.
std::string with_other_digits(std::string line, std::mt19937& random) {
  for (char& c : line) {
    if (is_digit(c) && random() % 4 == 0) c = static_cast<char>('0' + random() % 10);
  }
  return line;
}

void expect_the_same(const std::string& text, const std::string& name) {
  Reading cached = learn_reading(text, {});
  Reading fresh = learn_reading(text, {});
  if (!cached.layout) return;
  CutCache cache(*cached.layout);
  std::mt19937 random(7);
  std::istringstream lines(text);
  CellRow ours;
  CellRow theirs;
  for (std::string line; std::getline(lines, line);) {
    for (int again = 0; again < 6; ++again) {
      const std::string other = again < 2 ? line : with_other_digits(line, random);
      const bool as_cached = cache.cut(other, ours);
      const bool as_fresh = fresh.layout->cut(other, theirs);
      ASSERT_EQ(told(ours, as_cached), told(theirs, as_fresh)) << name << ": " << other;
    }
  }
}

TEST(CutCache, GivesWhatTheLayoutGivesForLinesOfTheSameShape) {
  size_t files = 0;
  for (const char* folder : {"forms", "forms/printed", "logs"}) {
    for (const auto& entry : std::filesystem::directory_iterator(kFixtures + folder)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path());
      std::stringstream text;
      text << file.rdbuf();
      expect_the_same(text.str(), entry.path().filename());
      ++files;
    }
  }
  EXPECT_GT(files, 90U);
}

TEST(CutCache, BehindACollectorsPrefixItIsTheSame) {
  for (const char* form : {"kubectl_top.txt", "mac_top.txt", "malloc_stats.txt", "smem.txt"}) {
    std::ifstream file(kFixtures + "forms/" + form);
    std::string text;
    size_t second = 0;
    for (std::string line; std::getline(file, line); ++second) {
      text += "Mar  3 10:" + std::to_string(10 + second / 60 % 50) + ":" +
              std::to_string(10 + second % 50) + " build7 app[2231]: " + line + "\n";
    }
    expect_the_same(text, form);
  }
}

TEST(CutCache, ATimeThatIsNoneIsNotTakenForOneOfTheSameShape) {
  std::string text;
  for (int i = 0; i < 40; ++i) {
    text += "at " + std::to_string(10 + i) + ":18:25 took " + std::to_string(10 + i) +
            ".20.2026 10:00 rss " + std::to_string(500 + i) + " MB of 900 MB\n";
  }
  expect_the_same(text, "times");
}

}  // namespace
}  // namespace plateau
