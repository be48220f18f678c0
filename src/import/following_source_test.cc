// SPDX-License-Identifier: Apache-2.0
#include "import/following_source.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace plateau {
namespace {

// The reader waits at the end of the file while all of this happens.
TEST(FollowingSource, WhatWasWrittenBeforeARotationIsReadBeforeTheNewFile) {
  const std::filesystem::path log = std::filesystem::path(testing::TempDir()) / "follow.log";
  const std::filesystem::path old = log.string() + ".1";
  std::ofstream(log) << "first\n";
  Following following;
  following.waits = true;
  auto source = open_following(log.string(), following);
  ASSERT_TRUE(source.ok()) << source.error().message;

  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    std::ofstream(log, std::ios::app) << "late\n";
    std::filesystem::rename(log, old);
    std::ofstream(log) << "new\n";
  });
  std::string read;
  std::array<char, 64> buffer{};
  while (read.find("new") == std::string::npos) {
    auto got = source.value()->read(buffer.data(), buffer.size());
    if (!got.ok() || got.value() == 0) break;
    read.append(buffer.data(), got.value());
  }
  writer.join();
  EXPECT_EQ(read, "first\nlate\nnew\n");
}

}  // namespace
}  // namespace plateau
