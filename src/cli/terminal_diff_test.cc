// SPDX-License-Identifier: Apache-2.0
// The encoder is held to a small terminal written here: whatever two pictures it is given, its
// bytes turn a screen that shows the first into one that shows the second.
#include "cli/terminal_diff.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <charconv>
#include <vector>

#include "base/utf8.h"

namespace plateau {
namespace {

// Understands what the encoder says, and fails on anything else.
class Emulator {
 public:
  Emulator(size_t columns, size_t rows) : columns_(columns), cells_(columns * rows) {}

  // Empty if all was understood.
  std::string run(std::string_view bytes) {
    while (!bytes.empty()) {
      if (bytes.front() == '\x1b') {
        const size_t end = bytes.find_first_of("HJmhl");
        if (end == std::string_view::npos) return "cut command";
        if (!command(bytes.substr(2, end - 2), bytes[end])) return std::string(bytes);
        bytes.remove_prefix(end + 1);
        continue;
      }
      const CodePoint point = decode_utf8(bytes);
      bytes.remove_prefix(point.bytes);
      const size_t width = glyph_width(point.value);
      if (width == 0 || column_ + width > columns_) return "a glyph that has no place";
      at(row_, column_) = {point.value, ink_, reverse_};
      if (width == 2) at(row_, column_ + 1) = {0, ink_, reverse_};
      column_ += width;
    }
    return synchronized_ || ink_ != Ink::plain || reverse_ ? "left in the middle" : "";
  }

  [[nodiscard]] bool shows(const Frame& frame) const {
    for (size_t row = 0; row < frame.rows(); ++row) {
      for (size_t column = 0; column < frame.columns(); ++column) {
        if (frame.at(row, column) != cells_[row * columns_ + column]) return false;
      }
    }
    return true;
  }

 private:
  Cell& at(size_t row, size_t column) { return cells_.at(row * columns_ + column); }

  bool command(std::string_view text, char last) {
    if (last == 'h' || last == 'l') {
      synchronized_ = last == 'h';
      return text == "?2026";
    }
    if (last == 'J') {
      for (Cell& cell : cells_) cell = {};
      return text == "2";
    }
    if (last == 'H') {
      const size_t middle = text.find(';');
      std::from_chars(text.data(), text.data() + middle, row_);
      std::from_chars(text.data() + middle + 1, text.data() + text.size(), column_);
      return row_-- > 0 && column_-- > 0;
    }
    // Colours: "0", then an ink, then 7.
    if (!text.starts_with("0")) return false;
    text.remove_prefix(1);
    reverse_ = text.ends_with(";7");
    if (reverse_) text.remove_suffix(2);
    if (!text.empty()) text.remove_prefix(1);
    for (size_t ink = 0; ink < 9; ++ink) {
      ink_ = static_cast<Ink>(ink);
      if (ink_code(ink_) == text) return true;
    }
    return false;
  }

  size_t columns_;
  std::vector<Cell> cells_;
  size_t row_ = 0;
  size_t column_ = 0;
  Ink ink_ = Ink::plain;
  bool reverse_ = false;
  bool synchronized_ = false;
};

Frame any_frame(size_t columns, size_t rows) {
  Frame frame(columns, rows);
  const auto writes = *rc::gen::inRange(0, 12);
  for (int i = 0; i < writes; ++i) {
    const auto text = *rc::gen::element<std::string>("a", "plateau", "漢字", "é", " ", "⣿⡇", "x漢");
    const auto row = *rc::gen::inRange<size_t>(0, rows);
    frame.put(row, *rc::gen::inRange<size_t>(0, columns), text,
              static_cast<Ink>(*rc::gen::inRange(0, 9)));
    if (*rc::gen::arbitrary<bool>()) frame.reverse(row, 0, columns);
  }
  return frame;
}

RC_GTEST_PROP(EncodeChange, TurnsAnyPictureIntoAnyOther, ()) {
  const auto columns = *rc::gen::inRange<size_t>(1, 20);
  const auto rows = *rc::gen::inRange<size_t>(1, 6);
  Emulator screen(columns, rows);
  Frame shown;
  for (int i = 0; i < 3; ++i) {
    const Frame next = any_frame(columns, rows);
    RC_ASSERT(screen.run(encode_change(shown, next)) == "");
    RC_ASSERT(screen.shows(next));
    shown = next;
  }
}

TEST(EncodeChange, SamePictureIsNoBytes) {
  Frame frame(10, 2);
  frame.put(0, 0, "level");
  EXPECT_EQ(encode_change(frame, frame), "");
}

TEST(EncodeChange, OneChangedCellIsOnePlaceAndOneGlyph) {
  Frame before(10, 2);
  before.put(1, 0, "step 19");
  Frame after = before;
  after.put(1, 6, "8");
  EXPECT_EQ(encode_change(before, after), "\x1b[?2026h\x1b[2;7H8\x1b[?2026l");
}

TEST(EncodeChange, OtherSizeClearsTheScreenFirst) {
  const std::string bytes = encode_change(Frame(3, 3), Frame(2, 2));
  EXPECT_EQ(bytes, "\x1b[?2026h\x1b[2J\x1b[?2026l");
}

TEST(EncodeChange, HalfOfAWideCharacterOverwrittenTakesTheOtherHalfAlong) {
  Frame before(4, 1);
  before.put(0, 0, "漢");
  Frame after = before;
  after.put(0, 1, "x");
  Emulator screen(4, 1);
  EXPECT_EQ(screen.run(encode_change(Frame(), before)), "");
  EXPECT_EQ(screen.run(encode_change(before, after)), "");
  EXPECT_TRUE(screen.shows(after));
  EXPECT_EQ(after.row_text(0), " x");
}

}  // namespace
}  // namespace plateau
