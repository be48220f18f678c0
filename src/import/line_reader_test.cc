// SPDX-License-Identifier: Apache-2.0
#include "import/line_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace plateau {
namespace {

// Hands out its text a few bytes at a time, so that every boundary falls inside something.
class Dribble : public ByteSource {
 public:
  Dribble(std::string text, size_t step) : text_(std::move(text)), step_(step) {}
  Result<size_t> read(char* buffer, size_t size) override {
    const size_t got = std::min({size, step_, text_.size() - at_});
    text_.copy(buffer, got, at_);
    at_ += got;
    return got;
  }

 private:
  std::string text_;
  size_t step_;
  size_t at_ = 0;
};

std::vector<std::string> lines_of(const std::string& text, size_t step) {
  LineReader reader(std::make_unique<Dribble>(text, step));
  std::vector<std::string> lines;
  std::string_view line;
  while (reader.next(line) && lines.size() < 1000) lines.emplace_back(line);
  return lines;
}

using Lines = std::vector<std::string>;

TEST(LineReader, AllLineEndsCountWhereverTheChunksFall) {
  for (const size_t step : {1u, 2u, 3u, 7u, 1000u}) {
    EXPECT_EQ(lines_of("a\nb\r\nc\rd\n\ne", step), (Lines{"a", "b", "c", "d", "", "e"})) << step;
  }
}

TEST(LineReader, LastLineNeedsNoEnd) {
  EXPECT_EQ(lines_of("one\ntwo", 4), (Lines{"one", "two"}));
  EXPECT_EQ(lines_of("one\ntwo\n", 4), (Lines{"one", "two"}));
  EXPECT_EQ(lines_of("", 4), Lines{});
}

TEST(LineReader, EscapesAreTakenOut) {
  EXPECT_EQ(lines_of("\x1b[1;32mgreen\x1b[0m x\x1b]0;title\a!\n\x1b", 3), (Lines{"green x!", ""}));
}

TEST(LineReader, OverlongLineIsCutAndTheNextOneIsWhole) {
  std::string text(LineReader::kMaxLine + 500'000, 'x');
  text += "\nnext\n";
  LineReader reader(std::make_unique<Dribble>(text, 100'000));
  std::string_view line;
  ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(line.size(), LineReader::kMaxLine);
  ASSERT_TRUE(reader.next(line));
  EXPECT_TRUE(line == "next") << line.size();
  EXPECT_EQ(reader.number(), 2u);
  EXPECT_EQ(reader.overlong(), 1u);
  EXPECT_FALSE(reader.next(line));
}

TEST(LineReader, PeekDoesNotConsume) {
  LineReader reader(std::make_unique<Dribble>("ab\ncd\n", 2));
  EXPECT_EQ(reader.peek(4), "ab\nc");
  std::string_view line;
  ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(line, "ab");
}

}  // namespace
}  // namespace plateau
