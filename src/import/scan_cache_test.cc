// SPDX-License-Identifier: Apache-2.0
#include "import/scan_cache.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "base/text.h"

namespace plateau {
namespace {

bool same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

// What two scans disagree about; "" if nothing.
std::string difference(const ScannedLine& a, const ScannedLine& b) {
  if (a.step_word != b.step_word || a.step != b.step || a.step_total != b.step_total) return "step";
  if (a.bar_at != b.bar_at || a.bar_total != b.bar_total) return "bar";
  if (!same(a.epoch, b.epoch) || a.whole_epoch != b.whole_epoch) return "epoch";
  if (a.has_time != b.has_time || a.rank != b.rank) return "time or rank";
  if (a.has_time && a.count > 0 && a.time.seconds != b.time.seconds) return "seconds";
  for (size_t i = 0; i < a.tensors.size(); ++i) {
    if (!same(a.tensors[i], b.tensors[i])) return "tensors";
  }
  if (a.words != b.words || a.free_words != b.free_words) return "words";
  if (a.negative != b.negative || a.arrow != b.arrow || a.count != b.count) return "flags";
  for (size_t i = 0; i < a.count; ++i) {
    if (a.figures[i].value != b.figures[i].value || a.figures[i].bits != b.figures[i].bits ||
        a.figures[i].unit_mb != b.figures[i].unit_mb) {
      return "figure";
    }
  }
  return "";
}

std::vector<std::string> fixture_lines() {
  std::vector<std::string> lines;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(PLATEAU_SOURCE_DIR) +
                                                               "/tests/fixtures/logs")) {
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line, '\n');) lines.push_back(line);
  }
  for (const char* line :
       {"step 120/250 rss 5.4 GB", "iter 5 rss 10/64 GB", "1760966305 5552 MB", "13:18:25 123456",
        "99:99:99 rss 5 GB", "Epoch 3 batch 12 mem: 12.1G", "rank 3 step 10 rss_mb=100", "step 1e5",
        "step 10 mem 1,607 MB", "step 10 rss: -3 MB", "Epoch(train) [1][50/663] memory: 5432"}) {
    lines.emplace_back(line);
  }
  return lines;
}

TEST(ScanCache, GivesWhatAFreshScanGivesForLinesOfTheSameShape) {
  std::mt19937 random(7);
  ScanCache cache;
  ScannedLine fresh;
  for (const std::string& original : fixture_lines()) {
    for (int variant = 0; variant < 20; ++variant) {
      std::string line = original;
      for (char& c : line) {
        if (variant > 0 && is_digit(c)) c = static_cast<char>('0' + random() % 10);
      }
      scan_line(line, fresh);
      ASSERT_EQ(difference(fresh, cache.scan(line)), "") << line;
    }
  }
}

bool alike(std::string_view known, std::string_view line) {
  return same_shape(known, digit_mask(known), line);
}

TEST(ScanCache, ShapesDifferWhereNonDigitsDo) {
  EXPECT_TRUE(alike("step 10 rss 5552 MB and more", "step 99 rss 1234 MB and more"));
  EXPECT_FALSE(alike("step 10 rss 5552 MB and more", "step 10 rss 5552 GB and more"));
  EXPECT_FALSE(alike("step 10", "step 1x"));
  EXPECT_FALSE(alike("step 10", "step 100"));
  EXPECT_TRUE(alike("a1", "a2"));
}

TEST(ScanCache, OnlyDigitsStandForDigits) {
  for (int byte = 0; byte < 256; ++byte) {
    std::string line = "rss 5 MB step 7";
    line[4] = static_cast<char>(byte);
    EXPECT_EQ(alike("rss 1 MB step 7", line), byte >= '0' && byte <= '9') << byte;
  }
}

}  // namespace
}  // namespace plateau
