// SPDX-License-Identifier: Apache-2.0
#include "cli/write_file.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "base/files.h"
#include "base/testing/scratch_directory.h"

namespace plateau {
namespace {

using ::testing::HasSubstr;

class WriteFile : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return directory_.file("out.csv"); }
  [[nodiscard]] std::string content() const { return text_of_file(path()); }
  [[nodiscard]] size_t files() const { return directory_.entries(); }

  ScratchDirectory directory_;
};

TEST_F(WriteFile, LeavesNothingButTheFile) {
  EXPECT_FALSE(write_file(path(), "a,b\n", false));
  EXPECT_EQ(content(), "a,b\n");
  EXPECT_EQ(files(), 1U);
}

TEST_F(WriteFile, ExistingFileIsKeptUnlessForced) {
  ASSERT_FALSE(write_file(path(), "old", false));
  const std::optional<Error> refused = write_file(path(), "new", false);
  ASSERT_TRUE(refused);
  EXPECT_THAT(refused->message, HasSubstr("--force"));
  EXPECT_EQ(content(), "old");
  EXPECT_FALSE(write_file(path(), "new", true));
  EXPECT_EQ(content(), "new");
  EXPECT_EQ(files(), 1U);
}

TEST_F(WriteFile, FailureIsToldWithThePath) {
  EXPECT_THAT(write_file(directory_.file("no/such"), "x", false)->message, HasSubstr("/no/such: "));
  EXPECT_THAT(write_file(directory_.path(), "x", true)->message, HasSubstr("directory"));
}

TEST_F(WriteFile, DevicesAreWrittenToDirectly) {
  EXPECT_FALSE(write_file("/dev/null", "x", false));
  EXPECT_THAT(write_file("/dev/full", "x", false)->message, HasSubstr("No space"));
}

}  // namespace
}  // namespace plateau
