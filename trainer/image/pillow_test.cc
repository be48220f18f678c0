// SPDX-License-Identifier: Apache-2.0
// Asks the real Pillow: pillow_oracle.py writes pictures and what Pillow makes of them.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "trainer/image/picture.h"

namespace plateau::train {
namespace {

// The records of the oracle, read from the front. Fails the test if they end too early.
class Records {
 public:
  explicit Records(std::string text) : text_(std::move(text)) {}
  [[nodiscard]] bool empty() const { return at_ == text_.size(); }
  int64_t number() {
    int64_t value = 0;
    std::memcpy(&value, text_.data() + take(sizeof value), sizeof value);
    return value;
  }
  std::string blob() {
    const auto size = static_cast<size_t>(number());
    return text_.substr(take(size), size);
  }
  Picture picture() {
    Picture picture;
    picture.height = number();
    picture.width = number();
    const std::string rgb = blob();
    picture.rgb.assign(rgb.begin(), rgb.end());
    return picture;
  }

 private:
  size_t take(size_t size) {
    if (size > text_.size() - at_) {
      ADD_FAILURE() << "the oracle's records are cut off";
      std::abort();
    }
    at_ += size;
    return at_ - size;
  }
  std::string text_;
  size_t at_ = 0;
};

Records ask_pillow(const std::string& what) {
  const std::filesystem::path out = std::filesystem::temp_directory_path() /
                                    ("plateau-pillow-" + what + std::to_string(::getpid()));
  const std::string command = "/usr/bin/python3 " PLATEAU_SOURCE_DIR
                              "/trainer/image/pillow_oracle.py " +
                              what + " " + out.string();
  EXPECT_EQ(std::system(command.c_str()), 0) << command << ": is python3-pil installed?";
  std::ifstream file(out, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  std::filesystem::remove(out);
  return Records(std::move(text).str());
}

size_t different(const std::vector<uint8_t>& a, const std::vector<uint8_t>& b) {
  size_t count = 0;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) count += a[i] != b[i] ? 1 : 0;
  return count;
}

TEST(Pillow, DecodesToTheSamePixels) {
  Records records = ask_pillow("decode");
  int cases = 0;
  while (!records.empty()) {
    const std::string name = records.blob();
    const std::string file = records.blob();
    const Picture expected = records.picture();
    const auto bytes = std::as_bytes(std::span(file));
    SCOPED_TRACE(name);
    const Result<Picture> picture = decode_picture(bytes, "picture");
    const Result<PictureSize> size = picture_size(bytes, "picture");
    ++cases;
    ASSERT_TRUE(picture.ok()) << picture.error().message;
    ASSERT_TRUE(size.ok()) << size.error().message;
    EXPECT_EQ(size.value().height, expected.height);
    EXPECT_EQ(size.value().width, expected.width);
    ASSERT_EQ(picture.value().height, expected.height);
    ASSERT_EQ(picture.value().width, expected.width);
    EXPECT_EQ(picture.value().rgb.size(), expected.rgb.size());
    EXPECT_EQ(different(picture.value().rgb, expected.rgb), 0U) << "bytes differ";
  }
  EXPECT_GT(cases, 400);
}

TEST(Pillow, ResizesToTheSamePixels) {
  Records records = ask_pillow("resize");
  int cases = 0;
  while (!records.empty()) {
    const Picture before = records.picture();
    const Picture after = records.picture();
    SCOPED_TRACE(testing::Message() << before.width << "x" << before.height << " to " << after.width
                                    << "x" << after.height);
    const Picture resized = resize_bicubic(before, after.height, after.width);
    ++cases;
    EXPECT_EQ(resized.height, after.height);
    EXPECT_EQ(resized.width, after.width);
    ASSERT_EQ(resized.rgb.size(), after.rgb.size());
    EXPECT_EQ(different(resized.rgb, after.rgb), 0U) << "bytes differ";
  }
  EXPECT_GT(cases, 250);
}

}  // namespace
}  // namespace plateau::train
