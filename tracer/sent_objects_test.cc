// SPDX-License-Identifier: Apache-2.0
#include "tracer/sent_objects.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tracer/process.h"
#include "tracer/testing/segment_reader.h"

namespace plateau::trace {
namespace {

class SentObjects : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = "/tmp/plateau-sent-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    ASSERT_TRUE(configure_from((pattern + ":exact:0").c_str()));
    begin_anew();
    ASSERT_NE(current_segment(), nullptr);
    std::filesystem::remove_all(pattern);
    forget_sent();
  }
  void TearDown() override {
    forget_sent();
    stop_tracing(SegmentState::ended);
  }

  static void keep(uint64_t begin, const std::string& path) {
    ModuleRecord record;
    record.head.type = RecordType::module;
    record.begin = begin;
    record.end = begin + 4096;
    record.path_bytes = static_cast<uint16_t>(path.size());
    const Piece pieces[] = {{&record, sizeof record}, {path.data(), path.size()}};
    keep_sent(pieces, 2);
  }
  static std::vector<std::string> told_paths() {
    std::vector<std::string> paths;
    for (const auto& module : testing::read_segment(*current_segment()).modules) {
      paths.push_back(module.path);
    }
    return paths;
  }
};

TEST_F(SentObjects, EachIsSentOnceMoreWordForWord) {
  keep(0x10000, "/lib/one.so");
  keep(0x20000, "/lib/the-other.so.2");
  keep(0x10000, "/lib/one.so");
  EXPECT_TRUE(send_again());
  EXPECT_EQ(told_paths(), (std::vector<std::string>{"/lib/one.so", "/lib/the-other.so.2"}));
}

TEST_F(SentObjects, WhatMayBeUnloadedIsNotSentAgain) {
  keep(0x10000, "/lib/one.so");
  forget_sent();
  EXPECT_TRUE(send_again());
  EXPECT_TRUE(told_paths().empty());
}

TEST_F(SentObjects, WithoutRoomForAllItSaysSoUntilItBeginsAnew) {
  const std::string path(1000, 'x');
  for (uint64_t i = 1; i <= 2 * kSentBytes / path.size(); ++i) keep(i * 0x10000, path);
  EXPECT_FALSE(send_again());
  forget_sent();
  keep(0x10000, "/lib/one.so");
  EXPECT_TRUE(send_again());
}

}  // namespace
}  // namespace plateau::trace
