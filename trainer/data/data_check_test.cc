// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/data_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "trainer/data/data_for_test.h"

namespace plateau::train {
namespace {

using testing::HasSubstr;

class Checking : public testing::Test {
 protected:
  // Eight examples; the fifth one's picture is cut off in the middle.
  Checking() {
    const Result<ShapeExample> shape = make_shape_example(0, {.format = PictureFormat::png});
    std::string lines;
    for (int i = 0; i < 8; ++i) {
      std::string picture = as_text(shape.value().picture);
      if (i == 4) picture.resize(picture.size() / 2);
      const std::string name = "p" + std::to_string(i) + ".png";
      folder_.write(name, picture);
      lines += simple_line("What is in the picture?", name, "circle");
    }
    path_ = folder_.write("d.jsonl", lines);
    options_.cache = folder_.path() / "cache" / "checks";
    options_.threads = 3;
  }
  DataCheck check(const LoaderOptions& loader = {}) {
    const Result<Dataset> dataset = Dataset::open(path_, {});
    return check_data(dataset.value(), tokenizer_, loader, options_);
  }

  ScratchDirectory folder_;
  std::filesystem::path path_;
  Tokenizer tokenizer_ = small_tokenizer();
  DataCheckOptions options_;
};

TEST_F(Checking, FindsWhatOnlyDecodingShows) {
  const DataCheck found = check();
  ASSERT_EQ(found.bad.size(), 1U);
  EXPECT_EQ(found.bad[0].index, 4U);
  EXPECT_THAT(found.bad[0].message, HasSubstr("d.jsonl line 5: p4.png"));
  EXPECT_EQ(found.examples, 8U);
  EXPECT_FALSE(found.is_remembered);
  options_.decodes = false;
  EXPECT_TRUE(check().bad.empty());
}

TEST_F(Checking, ARememberedResultHoldsUntilSomethingChanges) {
  const DataCheck first = check();
  const DataCheck again = check();
  EXPECT_TRUE(again.is_remembered);
  ASSERT_EQ(again.bad.size(), 1U);
  EXPECT_EQ(again.bad[0].message, first.bad[0].message);
  // Another setting, then a mended picture: both are looked at anew.
  const DataCheck shorter = check({.max_seq_length = 5});
  EXPECT_FALSE(shorter.is_remembered);
  EXPECT_EQ(shorter.bad.size(), 8U);
  std::filesystem::copy_file(folder_.path() / "p0.png", folder_.path() / "p4.png",
                             std::filesystem::copy_options::overwrite_existing);
  const DataCheck mended = check();
  EXPECT_FALSE(mended.is_remembered);
  EXPECT_TRUE(mended.bad.empty());
  EXPECT_TRUE(check().is_remembered);
}

TEST_F(Checking, ABrokenCacheIsAsGoodAsNone) {
  check();
  for (const auto& entry : std::filesystem::directory_iterator(options_.cache)) {
    std::ofstream(entry.path()) << "{\"key\": 5";
  }
  EXPECT_FALSE(check().is_remembered);
  options_.cache = path_;  // No directory.
  EXPECT_EQ(check().bad.size(), 1U);
}

TEST_F(Checking, StopsWhenItIsToldToAndRemembersNothing) {
  options_.threads = 1;
  options_.goes_on = [](size_t) { return false; };
  EXPECT_TRUE(check().is_stopped);
  options_.goes_on = [](size_t) { return true; };
  EXPECT_FALSE(check().is_remembered);
}

}  // namespace
}  // namespace plateau::train
