// SPDX-License-Identifier: Apache-2.0
// That TensorBoard reads it is tests/e2e/curves-reach-tensorboard.sh's; here are bytes and files.
#include "curves/tensorboard_writer.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/crc32c.h"

namespace plateau {
namespace {

using testing::HasSubstr;

std::string bytes_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(TensorboardWriter, ARecordIsFramedByItsLengthAndTwoChecksums) {
  const std::string record = tf_record("abc");
  ASSERT_EQ(record.size(), 8U + 4 + 3 + 4);
  EXPECT_EQ(record.substr(0, 8), std::string("\x03\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(record.substr(12, 3), "abc");
  const uint32_t sum = masked_crc32c("abc");
  EXPECT_EQ(static_cast<unsigned char>(record[15]), sum & 0xff);
}

TEST(TensorboardWriter, ASessionThatGoesOnSaysFromWhichStep) {
  const std::string expected("\x09\0\0\0\0\0\0\xf0\x3f\x10\x03\x3a\x02\x08\x01", 15);
  EXPECT_EQ(session_event(1.0, 3), expected);
}

TEST(TensorboardWriter, AScalarIsWrittenAsProtobufHasIt) {
  // Time 1.0, step 3, one value "a" of 2.5.
  const std::string event = scalars_event(1.0, 3, {{"a", 2.5}});
  const std::string expected(
      "\x09\0\0\0\0\0\0\xf0\x3f\x10\x03\x2a\x0a\x0a\x08\x0a\x01\x61\x15\0\0\x20\x40", 23);
  EXPECT_EQ(event, expected);
}

TEST(TensorboardWriter, EveryEventIsInTheFileAtOnce) {
  char name[] = "/tmp/plateau-tensorboard.XXXXXX";
  const std::string directory = mkdtemp(name);
  Result<TensorboardWriter> writer = TensorboardWriter::create(directory + "/new/runs", 1.7e9);
  ASSERT_TRUE(writer.ok()) << writer.error().message;
  const std::string path = writer.value().path();
  EXPECT_THAT(bytes_of(path), HasSubstr("brain.Event:2"));
  writer.value().scalars(1.7e9, 1, {{"memory/main_mb", 5552}});
  EXPECT_THAT(bytes_of(path), HasSubstr("memory/main_mb"));
  writer.value().text(1.7e9, 1, "plateau/answer", "LEAK");
  EXPECT_THAT(bytes_of(path), HasSubstr("LEAK"));
  EXPECT_EQ(writer.value().trouble(), "");
  std::filesystem::remove_all(directory);
}

TEST(TensorboardWriter, ADirectoryThatCannotBeWrittenIsAnError) {
  EXPECT_FALSE(TensorboardWriter::create("/proc/no/such", 1.7e9).ok());
}

}  // namespace
}  // namespace plateau
