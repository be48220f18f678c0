// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal_diff.h"

#include <fmt/format.h>

#include <iterator>

#include "base/utf8.h"

namespace plateau {
namespace {

// Writes cells, saying where and in which colour only when the terminal does not know already.
class CellWriter {
 public:
  explicit CellWriter(std::string& out) : out_(out) {}

  void write(size_t row, size_t column, const Cell& cell, bool wide) {
    if (!knows_place_ || row != row_ || column != column_) {
      out_ += fmt::format("\x1b[{};{}H", row + 1, column + 1);
    }
    if (cell.ink != ink_ || cell.reverse != reverse_) {
      // One command: reset, then what is wanted.
      out_ += "\x1b[0";
      if (cell.ink != Ink::plain) (out_ += ';') += ink_code(cell.ink);
      if (cell.reverse) out_ += ";7";
      out_ += 'm';
      ink_ = cell.ink;
      reverse_ = cell.reverse;
    }
    append_utf8(out_, cell.glyph);
    row_ = row;
    column_ = column + 1;
    // Terminals disagree on which characters are wide; after one, the place is said again.
    knows_place_ = !wide;
  }

  void finish() {
    if (ink_ != Ink::plain || reverse_) out_ += "\x1b[0m";
  }

 private:
  std::string& out_;
  bool knows_place_ = false;
  size_t row_ = 0;
  size_t column_ = 0;
  Ink ink_ = Ink::plain;
  bool reverse_ = false;
};

}  // namespace

std::string encode_change(const Frame& before, const Frame& after) {
  const bool fresh = before.columns() != after.columns() || before.rows() != after.rows();
  if (!fresh && before == after) return "";
  std::string out = "\x1b[?2026h";
  if (fresh) out += "\x1b[2J";
  CellWriter writer(out);
  const Cell blank;
  for (size_t row = 0; row < after.rows(); ++row) {
    for (size_t column = 0; column < after.columns(); ++column) {
      const Cell& cell = after.at(row, column);
      if (cell.glyph == 0) continue;  // Written with its left half.
      const bool wide = column + 1 < after.columns() && after.at(row, column + 1).glyph == 0;
      const auto same = [&](size_t at) {
        return after.at(row, at) == (fresh ? blank : before.at(row, at));
      };
      if (same(column) && (!wide || same(column + 1))) continue;
      writer.write(row, column, cell, wide);
    }
  }
  writer.finish();
  return out + "\x1b[?2026l";
}

}  // namespace plateau
