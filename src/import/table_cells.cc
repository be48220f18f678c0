// SPDX-License-Identifier: Apache-2.0
// The layouts `delimited` and `table` of cells.h.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "base/units.h"
#include "import/cells.h"
#include "import/csv_fields.h"
#include "import/line_shape.h"
#include "import/line_stamp.h"
#include "import/slot_name.h"

namespace plateau {
namespace {

// A rule of a table: nothing but dashes, bars, colons and blanks.
bool is_rule(std::string_view line) {
  return std::all_of(line.begin(), line.end(), [](char c) {
    return c == '-' || c == '=' || c == '|' || c == ':' || c == '+' || c == '_' || is_space(c);
  });
}

// A time is the row's, whether its column is wanted or not.
bool may_hold_time(std::string_view text) {
  return text.find(':') != std::string_view::npos;
}

class DelimitedLayout : public LogLayout {
 public:
  DelimitedLayout(char separator, std::string_view header, const NumberStyle& style)
      : separator_(separator), header_(header), style_(style), fields_(separator) {
    style_.comma_cuts = separator == ',';
    if (separator == ',') style_.decimal_comma = false;
    if (header.empty()) return;
    for (const std::string_view name : inner(fields_.cut(header))) {
      columns_.of(key_of_place(columns_.size()), trim(name));
    }
    width_ = columns_.size();
  }

  bool cut(std::string_view line, CellRow& row) override {
    row.clear();
    if (line.empty() || is_rule(line)) return false;
    if (line == header_) {
      row.starts_block = true;
      return false;
    }
    const std::vector<std::string_view> fields = inner(fields_.cut(line));
    if (fields.size() < 2) return read_time_above(line, row);
    if (width_ > 0 && fields.size() > width_ + 1) return false;
    for (size_t i = 0; i < fields.size(); ++i) {
      if (!wanted_.empty() && !is_wanted(static_cast<uint32_t>(i)) && !may_hold_time(fields[i])) {
        continue;
      }
      LogCell cell = read_cell(fields[i], style_);
      cell.column =
          columns_.of(key_of_place(i), wanted_.empty() ? fmt::format("column {}", i + 1) : "");
      if (cell.column == kNoColumn) continue;
      if (cell.has_time && !row.has_time) {
        row.has_time = true;
        row.time = cell.time;
      }
      row.cells.push_back(cell);
    }
    return true;
  }

  [[nodiscard]] std::string describe() const override {
    const std::string_view name = separator_ == '\t'  ? "tabs"
                                  : separator_ == ',' ? "commas"
                                  : separator_ == ';' ? "semicolons"
                                                      : "bars";
    return fmt::format("a table with {}{}", name, width_ > 0 ? " and a header" : ", no header");
  }
  [[nodiscard]] bool repeats(std::string_view line) const override {
    return shape_hash(line) != shape_hash(header_);
  }
  void reread(LogCell& cell) const override { reread_cell(cell, style_); }

 private:
  // Without the empty cells outside the bars of a Markdown table.
  std::vector<std::string_view> inner(std::vector<std::string_view> fields) const {
    if (separator_ != '|') return fields;
    if (!fields.empty() && trim(fields.front()).empty()) fields.erase(fields.begin());
    if (!fields.empty() && trim(fields.back()).empty()) fields.pop_back();
    return fields;
  }

  char separator_;
  std::string header_;
  NumberStyle style_;
  CsvFields fields_;
  size_t width_ = 0;
};

class TableLayout : public LogLayout {
 public:
  TableLayout(std::string_view header, std::string_view units, const NumberStyle& style)
      : words_(plain_words(header)), style_(style) {
    read_header(header);
    const std::string below = without_hash(units);
    std::vector<LinePiece> counted_in;
    cut_pieces(below, 1, counted_in);
    for (size_t i = 0; i < names_.size(); ++i) {
      const std::string_view unit = i < counted_in.size() ? counted_in[i].text : "";
      const bool says = unit == "%" || (unit.size() > 1 && unit_in_mb(unit));
      columns_.of(key_of_place(i),
                  says ? fmt::format("{} {}", names_[i].text, unit) : std::string(names_[i].text));
    }
    for (const LinePiece& name : wide_names_) {
      wide_columns_.push_back(columns_.of(key_of_place(1000 + wide_columns_.size()), name.text));
    }
  }

  bool cut(std::string_view line, CellRow& row) override {
    row.clear();
    if (line.empty() || is_rule(line)) return false;
    // Below "Mem:" under the same header: what is swapped out is another thing.
    if (trim(line).starts_with("Swap:") || line.find(" Swap: ") != std::string_view::npos) {
      return false;
    }
    if (may_be_header(line) && (line == as_written_ || plain_words(line) == words_)) {
      row.starts_block = headed_ = true;
      if (line == as_written_) return false;
      // The same words, but perhaps at other places.
      const std::string before = as_written_;
      const size_t names = names_.size();
      const size_t wide_names = wide_names_.size();
      read_header(line);
      if (names_.size() != names || wide_names_.size() != wide_names) read_header(before);
      return false;
    }
    if (bars_) line = without_bars(line, storage_);
    met_ = odd_ = 0;
    cut_pieces(line, 1, pieces_);
    if (pieces_.size() > names_.size()) join_units(line);
    // Names of several words, "MEM USAGE / LIMIT", need cells of several words.
    const bool several_words =
        whole_wide_names_ && wide_names_.size() >= 3 && wide_names_.size() < names_.size();
    if (several_words) cut_pieces(line, 2, wide_);
    const bool each = pieces_.size() == names_.size();
    if (names_its_number()) return read_time_above(line, row);
    // Where processes are listed every name is one word.
    const bool wide =
        several_words && wide_.size() == wide_names_.size() && !(each && pid_ < names_.size());
    if (wide) {
      for (size_t i = 0; i < wide_.size(); ++i) add(wide_[i], wide_columns_[i], row);
    } else if (each) {
      // "Total: 2 processes, 52 lwps, …" has as many words and is no process.
      if (pid_ < pieces_.size() && !is_digit(pieces_[pid_].text.front())) return false;
      for (size_t i = 0; i < pieces_.size(); ++i) add(pieces_[i], static_cast<uint32_t>(i), row);
    } else if (is_behind_clock()) {
      row.has_time = true;
      row.time = clock_;
      for (size_t i = 1; i < pieces_.size(); ++i)
        add(pieces_[i], static_cast<uint32_t>(i - 1), row);
    } else {
      place(row);
    }
    const auto numbers = std::count_if(row.cells.begin(), row.cells.end(),
                                       [](const LogCell& cell) { return cell.numeric; });
    // Above its header a table has rows only in a log whose beginning is cut off; a sentence whose
    // words happen to stand over a column is none.
    const bool row_or_prose = headed_ || static_cast<size_t>(numbers) * 2 >= pieces_.size();
    if (numbers > 0 && row_or_prose && odd_ * kOddOf <= met_) return true;
    row.clear();
    return read_time_above(line, row);
  }

  [[nodiscard]] std::string describe() const override { return "a table under a header"; }
  // What is cut without its bars stands nowhere in the line.
  [[nodiscard]] bool repeats(std::string_view line) const override {
    // A clock that the header leaves out is no cell, which could be read again.
    return !bars_ && !may_be_header(line) && clock_.seconds == 0;
  }
  void reread(LogCell& cell) const override { reread_cell(cell, style_); }
  // The lines that were learned from are read again, from above the header on.
  void freeze() override {
    LogLayout::freeze();
    headed_ = false;
  }
  void settle() override {
    settled_ = true;
    headed_ = false;
  }

 private:
  // "1468 Mi": an amount whose unit stands apart is one cell.
  void join_units(std::string_view line) {
    for (size_t i = 1; i < pieces_.size(); ++i) {
      LinePiece& amount = pieces_[i - 1];
      const LinePiece& unit = pieces_[i];
      const bool number = amount.text.find_first_not_of("0123456789.,") == std::string_view::npos;
      const bool apart = unit.begin == amount.end + 1 && unit.text.size() > 1;
      if (!number || !apart || !unit_in_mb(unit.text)) continue;
      amount.text = line.substr(amount.begin, unit.end - amount.begin);
      amount.end = unit.end;
      pieces_.erase(pieces_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  void read_header(std::string_view header) {
    as_written_ = header_ = std::string(header);
    // The views must last: the header is kept.
    std::string_view rest = header_;
    size_t skip = 0;
    while (skip < rest.size() && (rest[skip] == '#' || is_space(rest[skip]))) ++skip;
    header_.replace(0, skip, skip, ' ');
    bars_ = header_.find('|') != std::string::npos;
    if (bars_) std::replace(header_.begin(), header_.end(), '|', ' ');
    cut_pieces(header_, 1, names_);
    cut_pieces(header_, 2, wide_names_);
    // "vsz (  diff)    rss (  diff)": what is cut within brackets is no name.
    whole_wide_names_ = std::none_of(wide_names_.begin(), wide_names_.end(), [](const auto& name) {
      return std::count(name.text.begin(), name.text.end(), '(') !=
             std::count(name.text.begin(), name.text.end(), ')');
    });
    const auto place_of = [this](std::string_view title) {
      const auto found = std::find_if(names_.begin(), names_.end(), [title](const LinePiece& name) {
        return name.text == title;
      });
      return static_cast<size_t>(found - names_.begin());
    };
    pid_ = place_of("PID");
    // Behind the id of a process stands the time that it has computed for; a clock stands before.
    cpu_time_ = std::min(place_of("TIME"), place_of("TIME+"));
    if (cpu_time_ < pid_ || cpu_time_ == names_.size()) cpu_time_ = kNoColumn;
  }

  // "Memory used: 147.39" below "clearing redis memory": a line that says itself what its number
  // is.
  [[nodiscard]] bool names_its_number() const {
    const size_t n = pieces_.size();
    return n >= 2 && n <= 4 && pieces_[n - 2].text.ends_with(':') &&
           is_letter(pieces_.front().text.front()) && is_digit(pieces_[n - 1].text.front());
  }

  // "1772608500: 2.1e+09 5.9e+09" under "used free": seconds since 1970 that the header leaves out.
  bool is_behind_clock() {
    if (pieces_.size() != names_.size() + 1 || !pieces_[0].text.ends_with(':')) return false;
    const auto number = parse_double(pieces_[0].text.substr(0, pieces_[0].text.size() - 1));
    const auto seconds = number && *number >= 1e9 ? epoch_seconds(*number) : std::nullopt;
    if (!seconds) return false;
    clock_ = {Stamp::Kind::epoch, *seconds, 0};
    return true;
  }

  // Starts with the header's first letters.
  [[nodiscard]] bool may_be_header(std::string_view line) const {
    size_t at = 0;
    while (at < line.size() && (line[at] == '#' || is_space(line[at]))) ++at;
    if (names_.empty() || at >= line.size()) return false;
    const std::string_view first = names_.front().text;
    return is_digit(first.front()) || line.substr(at).starts_with(first.substr(0, 2));
  }

  void add(const LinePiece& piece, uint32_t column, CellRow& row) {
    if (column >= columns_.size() || column == cpu_time_) return;  // Or too many to tell apart.
    see_kind(piece.text, column);
    if (!is_wanted(column) && !may_hold_time(piece.text)) return;
    LogCell cell = read_cell(piece.text, style_);
    cell.column = column;
    if (cell.has_time && !row.has_time) {
      row.has_time = true;
      row.time = cell.time;
    }
    row.cells.push_back(cell);
  }

  // Whether the piece is of the kind that the column has in most rows.
  void see_kind(std::string_view text, uint32_t column) {
    const bool number = is_digit(text.front());
    const bool word = is_letter(text.front()) || text.front() == '/';
    if (!number && !word) return;  // "-", "<none>", "[kworker]": either may be left out so.
    kinds_.resize(columns_.size());
    Kinds& kinds = kinds_[column];
    if (!settled_) {
      kinds.numbers += number ? 1 : 0;
      kinds.words += word ? 1 : 0;
      return;
    }
    const size_t all = kinds.numbers + kinds.words;
    if (all < kFewestRows || std::max(kinds.numbers, kinds.words) * 3 < all * 2) return;
    ++met_;
    odd_ += (kinds.numbers > kinds.words) != number ? 1 : 0;
  }

  // Each piece under the name that it stands under, right-aligned ones by their ends.
  void place(CellRow& row) {
    for (const LinePiece& piece : pieces_) {
      size_t best = names_.size();
      size_t best_distance = 4;
      for (size_t i = 0; i < names_.size(); ++i) {
        const LinePiece& name = names_[i];
        const bool overlaps = piece.begin < name.end && name.begin < piece.end;
        const size_t off_end = piece.end > name.end ? piece.end - name.end : name.end - piece.end;
        const size_t off_begin =
            piece.begin > name.begin ? piece.begin - name.begin : name.begin - piece.begin;
        const size_t distance = std::min(off_end, off_begin);
        if (!overlaps || distance >= best_distance) continue;
        best = i;
        best_distance = distance;
      }
      // Lines above the header of a screen of top have words where processes have their ids.
      if (best < names_.size() && names_[best].text == "PID" && !is_digit(piece.text.front())) {
        row.clear();
        return;
      }
      if (best < names_.size()) {
        add(piece, static_cast<uint32_t>(best), row);
      } else if (const auto stamp = stamp_at(piece.text, 0); stamp && !row.has_time) {
        row.has_time = true;
        row.time = *stamp;
      }
    }
  }

  // dstat draws bars between groups of columns: "stl| used".
  static std::string_view without_bars(std::string_view line, std::string& storage) {
    storage = line;
    std::replace(storage.begin(), storage.end(), '|', ' ');
    return storage;
  }

  static std::string without_hash(std::string_view line) {
    std::string out(line);
    if (out.starts_with('#')) out.front() = ' ';
    return out;
  }

  struct Kinds {
    size_t numbers = 0;
    size_t words = 0;
  };
  static constexpr size_t kFewestRows = 6;
  static constexpr size_t kOddOf = 4;  // A row may differ in one column of four.

  std::vector<Kinds> kinds_;  // Of each column in the rows so far.
  bool settled_ = false;
  size_t met_ = 0;  // Columns of the row at hand that have a kind,
  size_t odd_ = 0;  // and those where it has the other one.
  bool bars_ = false;
  bool whole_wide_names_ = true;
  bool headed_ = false;          // The header has come.
  size_t pid_ = 0;               // The place of that name; past the last one: there is none.
  size_t cpu_time_ = kNoColumn;  // The same of the time that a process has computed for.
  Stamp clock_;
  std::string storage_;
  std::string words_;
  std::string as_written_;
  std::string header_;  // The same without what stands before its first name.
  NumberStyle style_;
  std::vector<LinePiece> names_;
  std::vector<LinePiece> wide_names_;
  std::vector<uint32_t> wide_columns_;
  std::vector<LinePiece> pieces_;
  std::vector<LinePiece> wide_;
};

}  // namespace

std::unique_ptr<LogLayout> delimited_layout(char separator, std::string_view header,
                                            const NumberStyle& style) {
  return std::make_unique<DelimitedLayout>(separator, header, style);
}

std::unique_ptr<LogLayout> table_layout(std::string_view header, std::string_view units,
                                        const NumberStyle& style) {
  return std::make_unique<TableLayout>(header, units, style);
}

}  // namespace plateau
