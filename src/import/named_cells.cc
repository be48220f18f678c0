// SPDX-License-Identifier: Apache-2.0
// The layouts `named rows`, `scrape` and `columns` of cells.h.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "import/cells.h"
#include "import/csv_fields.h"
#include "import/sheet.h"

namespace plateau {
namespace {

void add_cell(LogCell cell, uint32_t column, CellRow& row) {
  if (column == kNoColumn) return;
  cell.column = column;
  if (cell.has_time && !row.has_time) {
    row.has_time = true;
    row.time = cell.time;
  }
  row.cells.push_back(cell);
}

class NamedRowsLayout : public LogLayout {
 public:
  NamedRowsLayout(char separator, size_t name, size_t value, const NumberStyle& style)
      : name_(name), value_(value), style_(style), fields_(separator) {
    style_.comma_cuts = separator == ',';
    if (separator == ',') style_.decimal_comma = false;
  }

  bool cut(std::string_view line, CellRow& row) override {
    row.clear();
    const std::vector<std::string_view>& fields = fields_.cut(line);
    if (fields.size() <= std::max(name_, value_)) return false;
    const LogCell value = read_cell(fields[value_], style_);
    if (!value.numeric) return false;
    for (size_t i = 0; i < fields.size(); ++i) {
      if (i == name_ || i == value_) continue;
      add_cell(read_cell(fields[i], style_),
               columns_.of(key_of_place(i), fmt::format("column {}", i + 1)), row);
    }
    const std::string_view name = trim(fields[name_]);
    add_cell(value, columns_.of(hash_text(name), name), row);
    return true;
  }

  [[nodiscard]] std::string describe() const override { return "a table whose rows are named"; }
  // Names may differ in their digits alone.
  [[nodiscard]] bool repeats(std::string_view /*line*/) const override { return false; }
  void reread(LogCell& /*cell*/) const override {}

 private:
  size_t name_;
  size_t value_;
  NumberStyle style_;
  CsvFields fields_;
};

bool is_name_byte(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || c == ':' || c == '.';
}

class ScrapeLayout : public LogLayout {
 public:
  bool cut(std::string_view line, CellRow& row) override {
    row.clear();
    line = trim(line);
    if (line.empty() || !is_letter(line.front())) return false;
    size_t end = 0;
    while (end < line.size() && is_name_byte(line[end])) ++end;
    const std::string_view name = line.substr(0, end);
    std::string_view rest = line.substr(end);
    std::string_view labels;
    if (rest.starts_with('{')) {
      const size_t close = rest.rfind('}');
      if (close == std::string_view::npos) return false;
      labels = rest.substr(1, close - 1);
      rest.remove_prefix(close + 1);
    }
    if (!rest.starts_with(' ') && !rest.starts_with('\t')) return false;
    const std::string_view written = next_word(rest);
    const auto value = parse_double(written);
    const std::string_view when = next_word(rest);
    if (!value || !trim(rest).empty()) return false;
    LogCell cell;
    cell.text = written;
    cell.numeric = true;
    cell.number.value = *value;
    add_cell(cell, columns_.of(hash_text(name), name), row);
    row.prefix = labels;
    const auto milliseconds = parse_double(when);
    if (milliseconds) {
      if (const auto seconds = epoch_seconds(*milliseconds)) {
        row.has_time = true;
        row.time = {Stamp::Kind::epoch, *seconds, 0};
      }
    }
    return when.empty() || milliseconds.has_value();
  }

  [[nodiscard]] std::string describe() const override { return "metrics as they are scraped"; }
  [[nodiscard]] bool repeats(std::string_view /*line*/) const override { return false; }
  void reread(LogCell& /*cell*/) const override {}
};

// "30m" beside "346Mi" counts thousandths of a core: quantities of Kubernetes.
void tell_thousandths(CellRow& row) {
  const auto ends = [](const LogCell& cell, std::string_view unit) {
    return cell.numeric && cell.text.size() > unit.size() && cell.text.ends_with(unit) &&
           is_digit(cell.text[cell.text.size() - unit.size() - 1]);
  };
  const bool quantities = std::any_of(row.cells.begin(), row.cells.end(), [&](const LogCell& c) {
    return ends(c, "Ki") || ends(c, "Mi") || ends(c, "Gi");
  });
  if (!quantities) return;
  for (LogCell& cell : row.cells) {
    if (ends(cell, "m")) cell.numeric = false;
  }
}

class ColumnsLayout : public LogLayout {
 public:
  ColumnsLayout(size_t width, const NumberStyle& style) : width_(width), style_(style) {}

  bool cut(std::string_view line, CellRow& row) override {
    row.clear();
    cut_pieces(line, 2, pieces_);
    // A time above the rows is theirs.
    if (pieces_.size() == 1) {
      const LogCell cell = read_cell(pieces_.front().text, style_);
      row.has_time = cell.has_time;
      row.time = cell.time;
      return cell.has_time;
    }
    if (pieces_.size() != width_) return false;
    for (size_t i = 0; i < pieces_.size(); ++i) {
      add_cell(read_cell(pieces_[i].text, style_),
               columns_.of(key_of_place(i), fmt::format("column {}", i + 1)), row);
    }
    tell_thousandths(row);
    return true;
  }

  [[nodiscard]] std::string describe() const override { return "columns without a header"; }
  [[nodiscard]] bool repeats(std::string_view /*line*/) const override { return false; }
  void reread(LogCell& /*cell*/) const override {}

 private:
  size_t width_;
  NumberStyle style_;
  std::vector<LinePiece> pieces_;
};

}  // namespace

std::unique_ptr<LogLayout> named_rows_layout(char separator, size_t name, size_t value,
                                             const NumberStyle& style) {
  return std::make_unique<NamedRowsLayout>(separator, name, value, style);
}

std::unique_ptr<LogLayout> scrape_layout() {
  return std::make_unique<ScrapeLayout>();
}

std::unique_ptr<LogLayout> columns_layout(size_t width, const NumberStyle& style) {
  return std::make_unique<ColumnsLayout>(width, style);
}

}  // namespace plateau
