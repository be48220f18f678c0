// SPDX-License-Identifier: Apache-2.0
#include "cli/reading_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace plateau {
namespace {

TEST(ReadingFile, ASectionHoldsForLogsOfItsName) {
  const char* text = "unit = \"KiB\"\n[logs.\"train*.log\"]\nmemory = \"max_mem\"  # a peak\n";
  const auto train = parse_reading_file(text, "train-3.log", "x");
  const auto other = parse_reading_file(text, "serve.log", "x");
  ASSERT_TRUE(train.ok() && other.ok());
  EXPECT_EQ(train.value().memory, "max_mem");
  EXPECT_EQ(other.value().memory, "");
  EXPECT_GT(other.value().unit_mb, 0) << "keys before the first section hold for all";
}

TEST(ReadingFile, WhatCannotBeUnderstoodIsNamedWithItsLine) {
  for (const char* text : {"\nmemory max", "\nunit = \"furlong\"", "\n[logs.train]",
                           "\ncolour = \"red\"", "\nmemory = unquoted"}) {
    const auto read = parse_reading_file(text, "a.log", "dir/.plateau.toml");
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_TRUE(read.error().message.starts_with("dir/.plateau.toml:2: ")) << read.error().message;
  }
}

TEST(ReadingFile, WhatIsRememberedIsFoundAgainFromAFolderBelow) {
  const auto folder = std::filesystem::temp_directory_path() / "plateau_reading_file_test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder / "runs");
  ReadingWishes wishes;
  wishes.memory = "a \"quoted\" name";
  wishes.unit_mb = 1;
  const auto kept = remember_wishes((folder / "train.log").string(), wishes, "MB");
  ASSERT_TRUE(kept.ok()) << kept.error().message;
  const auto found = remembered_wishes((folder / "runs" / "train.log").string());
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found.value().memory, wishes.memory);
  EXPECT_EQ(found.value().unit_mb, 1);
  EXPECT_FALSE(remember_wishes((folder / "train.log").string(), wishes, "MB").ok())
      << "one that exists is never replaced";
  chmod(kept.value().c_str(), 0666);
  EXPECT_FALSE(remembered_wishes((folder / "train.log").string()).value().any())
      << "others could have written it";
  std::filesystem::remove_all(folder);
}

TEST(ReadingFile, UnitsAreNamesOrAmounts) {
  EXPECT_EQ(unit_named("MB").value(), 1);
  EXPECT_EQ(unit_named("640MB").value(), 640);
  EXPECT_NEAR(unit_named("pages").value(), 0.004096, 1e-12);
  EXPECT_FALSE(unit_named("12").ok()) << "twelve of what";
}

}  // namespace
}  // namespace plateau
