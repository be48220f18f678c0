// SPDX-License-Identifier: Apache-2.0
#include "base/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "base/fd.h"
#include "base/testing/scratch_directory.h"

namespace plateau {
namespace {

TEST(Files, LongFileIsReadToItsEnd) {
  const ScratchDirectory scratch;
  std::string long_text;
  for (int i = 0; long_text.size() < 300'000; ++i) long_text += std::to_string(i) + "\n";
  scratch.write("deep/long", long_text);
  scratch.write("empty", "");

  EXPECT_EQ(text_of_file(scratch.file("deep/long")), long_text);
  EXPECT_EQ(text_of_file(scratch.file("empty")), "");
  EXPECT_EQ(scratch.entries(), 2U);
}

TEST(Files, FileWithoutASizeIsReadTooAndBelowADirectory) {
  const Fd proc(open("/proc/self", O_RDONLY | O_DIRECTORY));
  int error = -1;
  EXPECT_NE(read_file_at(proc.get(), "status", error).find("VmRSS:"), std::string::npos);
  EXPECT_EQ(error, 0);
}

TEST(Files, WhatCannotBeReadIsEmptyAndSaysWhy) {
  int error = 0;
  EXPECT_EQ(read_file_at(AT_FDCWD, "/nowhere/at/all", error), "");
  EXPECT_EQ(error, ENOENT);
  EXPECT_EQ(read_file_at(AT_FDCWD, "/proc", error), "");
  EXPECT_EQ(error, EISDIR);
  EXPECT_EQ(text_of_file("/nowhere/at/all"), "");
}

TEST(ScratchDirectory, EachIsItsOwnAndGoesAwayWithItsFiles) {
  std::filesystem::path gone;
  {
    const ScratchDirectory one;
    const ScratchDirectory other;
    EXPECT_NE(one.path(), other.path());
    gone = one.path();
    one.write("a/b/c", "x");
  }
  EXPECT_FALSE(std::filesystem::exists(gone));
}

TEST(WriteAll, ReportsWhyItFailed) {
  EXPECT_EQ(write_all(-1, "x"), EBADF);
  EXPECT_EQ(write_all(-1, ""), 0);
}

}  // namespace
}  // namespace plateau
