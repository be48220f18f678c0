// SPDX-License-Identifier: Apache-2.0
// The layout `matrix` of cells.h: a header of measures over rows that begin with what they measure.
//
//                 Pss  Private      Rss               used (Mb) gc trigger (Mb)
//   Native Heap 40004    39870    40904        Ncells 1090774 58.3    1770749 94.6
//         TOTAL 79356    55004   175004        Vcells 1396770 10.7    2805504 21.5
//
// A column is a row's name and a place. A row called TOTAL is the sum and goes by the measure
// alone; the others say that they are a part. A unit in brackets is a column of its own, R's way of
// writing cells and then megabytes, and takes the name before it.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "base/units.h"
#include "import/cells.h"
#include "import/matrix_header.h"
#include "import/sheet.h"

namespace plateau {
namespace {

class MatrixLayout : public LogLayout {
 public:
  MatrixLayout(std::string_view header, const std::string& unit, const NumberStyle& style)
      : header_(header), style_(style), names_(matrix_names(header)) {
    style_.comma_cuts = false;
    for (std::string& name : names_) name += unit;
  }

  bool cut(std::string_view line, CellRow& row) override {
    row.clear();
    if (line == header_) {
      row.starts_block = true;
      return false;
    }
    const MatrixRow found = matrix_row(line);
    if (found.numbers.size() < 2 || found.numbers.size() > names_.size()) {
      return read_time_above(line, row);
    }
    const bool sum = equal_ignoring_case(found.name, "total");
    for (size_t i = 0; i < found.numbers.size(); ++i) {
      const uint64_t key = hash_text(found.name) ^ key_of_place(i);
      LogCell cell = read_cell(found.numbers[i], style_);
      cell.column =
          columns_.of(key, sum ? names_[i] : fmt::format("{}, part {}", names_[i], found.name));
      cell.family = key_of_place(i);
      if (cell.column != kNoColumn) row.cells.push_back(cell);
    }
    return true;
  }

  [[nodiscard]] std::string describe() const override { return "a table of named rows"; }
  // Names may differ in their digits alone.
  [[nodiscard]] bool repeats(std::string_view /*line*/) const override { return false; }
  void reread(LogCell& /*cell*/) const override {}

 private:
  std::string header_;
  NumberStyle style_;
  std::vector<std::string> names_;
};

}  // namespace

std::vector<std::string> matrix_names(std::string_view header) {
  std::vector<LinePiece> pieces;
  cut_pieces(header, 1, pieces);
  const auto is_unit = [](std::string_view piece) {
    return piece.size() > 3 && piece.front() == '(' && piece.back() == ')' &&
           unit_in_mb(piece.substr(1, piece.size() - 2)).has_value();
  };
  const bool units = std::any_of(pieces.begin(), pieces.end(),
                                 [&](const LinePiece& piece) { return is_unit(piece.text); });
  std::vector<std::string> names;
  std::string words;
  for (const LinePiece& piece : pieces) {
    if (!units) {
      names.emplace_back(piece.text);
    } else if (!is_unit(piece.text)) {
      words += (words.empty() ? "" : " ") + std::string(piece.text);
    } else {
      names.push_back(words + " of cells");
      names.push_back(fmt::format("{} {}", words, piece.text));
      words.clear();
    }
  }
  if (!words.empty()) names.push_back(words);
  return names;
}

MatrixRow matrix_row(std::string_view line) {
  MatrixRow row;
  std::string_view rest = line;
  const char* name_end = nullptr;
  for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest)) {
    const bool number = is_digit(word.front());
    if (!number && !row.numbers.empty()) return {};
    if (!number) name_end = word.data() + word.size();
    if (number) row.numbers.push_back(word);
  }
  if (name_end == nullptr || row.numbers.empty()) return {};
  const std::string_view name = trim(line.substr(0, static_cast<size_t>(name_end - line.data())));
  const bool plain =
      name.size() <= 40 && !name.ends_with(':') && std::any_of(name.begin(), name.end(), is_letter);
  if (!plain) return {};
  row.name = name;
  return row;
}

bool heads_a_matrix(const std::vector<std::string_view>& lines, size_t at) {
  const std::vector<std::string> names = matrix_names(lines[at]);
  if (names.size() < 3 || std::any_of(lines[at].begin(), lines[at].end(), is_digit)) return false;
  size_t full = 0;
  std::vector<std::string_view> rows;
  for (size_t i = at + 1; i < std::min(lines.size(), at + 16); ++i) {
    const MatrixRow row = matrix_row(lines[i]);
    if (row.numbers.empty() && rows.empty() && i <= at + 2) continue;  // More of the header.
    if (row.numbers.size() < 2 || row.numbers.size() > names.size()) break;
    if (std::find(rows.begin(), rows.end(), row.name) != rows.end()) return false;
    rows.push_back(row.name);
    full += row.numbers.size() == names.size() ? 1 : 0;
  }
  return full >= 2;
}

std::unique_ptr<LogLayout> matrix_layout(std::string_view header, const std::string& unit,
                                         const NumberStyle& style) {
  return std::make_unique<MatrixLayout>(header, unit, style);
}

}  // namespace plateau
