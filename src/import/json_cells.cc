// SPDX-License-Identifier: Apache-2.0
// The layouts `json` of cells.h: objects, one a line, alone or behind a prefix, with their figures
// in fields of their own or inside a text that a logger wrote.
#include <simdjson.h>

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>

#include "base/text.h"
#include "import/cells.h"
#include "import/cut_cache.h"
#include "import/line_stamp.h"
#include "import/sheet.h"

namespace plateau {
namespace {

using Type = simdjson::dom::element_type;

constexpr int kMostDepth = 8;
constexpr size_t kMostCells = 256;
constexpr size_t kMostItems = 16;  // Of an array.

// An object of the line, if it holds one.
class JsonLine {
 public:
  bool parse(std::string_view line, CellRow& row) {
    const size_t open = line.find("{\"");
    const size_t spaced = line.find("{ \"");
    const size_t at = std::min(open, spaced);
    const size_t end = line.rfind('}');
    if (at == std::string_view::npos || end == std::string_view::npos || end < at) return false;
    if (at > 0) read_prefix(line.substr(0, at), row);
    // simdjson reads a few bytes past the end; the copy has room for that.
    padded_.reserve(end + 1 - at + simdjson::SIMDJSON_PADDING);
    padded_.assign(line.substr(at, end + 1 - at));
    return parser_.parse(padded_.data(), padded_.size(), false).get(object_) == simdjson::SUCCESS;
  }
  [[nodiscard]] simdjson::dom::object object() const { return object_; }

 private:
  simdjson::dom::parser parser_;
  std::string padded_;
  simdjson::dom::object object_;
};

void take_time(const LogCell& cell, CellRow& row) {
  if (!cell.has_time || row.has_time) return;
  row.has_time = true;
  row.time = cell.time;
}

class JsonLayout : public LogLayout {
 public:
  explicit JsonLayout(const NumberStyle& style) : style_(style) {}

  bool cut(std::string_view line, CellRow& row) override {
    row.clear();
    if (!json_.parse(line, row)) return false;
    path_.clear();
    row_ = &row;
    flatten(json_.object(), 0);
    return !row.cells.empty();
  }

  [[nodiscard]] std::string describe() const override { return "JSON objects, one a line"; }
  [[nodiscard]] bool repeats(std::string_view /*line*/) const override { return false; }
  void reread(LogCell& /*cell*/) const override {}

 private:
  void flatten(simdjson::dom::object object, int depth) {
    const size_t size = path_.size();
    for (const auto field : object) {
      if (!path_.empty()) path_.push_back('.');
      path_.append(field.key.substr(0, 200));
      value(field.value, depth + 1);
      path_.resize(size);
    }
  }

  void inside(simdjson::dom::element element, int depth) {
    simdjson::dom::object object;
    simdjson::dom::array array;
    if (element.get(object) == simdjson::SUCCESS) flatten(object, depth);
    if (element.get(array) != simdjson::SUCCESS) return;
    const size_t size = path_.size();
    size_t item = 0;
    for (const auto inner : array) {
      if (item >= kMostItems) break;
      path_ += fmt::format(".{}", item++);
      value(inner, depth + 1);
      path_.resize(size);
    }
  }

  void value(simdjson::dom::element element, int depth) {
    if (depth > kMostDepth || row_->cells.size() >= kMostCells) return;
    const Type type = element.type();
    if (type == Type::OBJECT || type == Type::ARRAY) {
      inside(element, depth);
      return;
    }
    if (type == Type::BOOL || type == Type::NULL_VALUE) return;
    LogCell cell;
    cell.column = columns_.of(hash_text(path_), path_);
    // Texts may be times, which are the row's.
    const bool skipped = type != Type::STRING && !is_wanted(cell.column);
    if (cell.column == kNoColumn || skipped) return;
    read_value(element, cell);
    take_time(cell, *row_);
    row_->cells.push_back(cell);
  }

  // A number or a text.
  void read_value(simdjson::dom::element element, LogCell& cell) const {
    std::string_view text;
    if (element.get(text) == simdjson::SUCCESS) {
      const uint32_t column = cell.column;
      cell = read_cell(text, style_);
      cell.column = column;
      return;
    }
    cell.numeric = element.get(cell.number.value) == simdjson::SUCCESS;
    cell.number.decimals = cell.number.value == std::floor(cell.number.value) ? 0 : 1;
  }

  NumberStyle style_;
  JsonLine json_;
  std::string path_;
  CellRow* row_ = nullptr;
};

class JsonTextLayout : public LogLayout {
 public:
  explicit JsonTextLayout(const NumberStyle& style) : style_(style), inner_(line_layout(style)) {}

  bool cut(std::string_view line, CellRow& row) override {
    static constexpr std::array<std::string_view, 6> kTexts = {"message", "msg",         "log",
                                                               "text",    "textPayload", "event"};
    static constexpr std::array<std::string_view, 7> kTimes = {
        "time", "timestamp", "ts", "@timestamp", "asctime", "datetime", "t"};
    static constexpr std::array<std::string_view, 6> kLabels = {"rank",      "pod",  "pod_name",
                                                                "container", "host", "hostname"};
    row.clear();
    CellRow outside;
    if (!json_.parse(line, outside)) return false;
    std::string_view text;
    for (const std::string_view key : kTexts) {
      if (json_.object()[key].get(text) == simdjson::SUCCESS) break;
    }
    if (text.empty()) return false;
    const bool ours = remembered_ ? remembered_->cut(text, row) : inner_->cut(text, row);
    for (const std::string_view key : kTimes) {
      std::string_view written;
      double number = 0;
      if (json_.object()[key].get(written) == simdjson::SUCCESS) {
        take_time(read_cell(written, style_), outside);
      } else if (json_.object()[key].get(number) == simdjson::SUCCESS && !outside.has_time) {
        if (const auto seconds = epoch_seconds(number)) {
          outside.has_time = true;
          outside.time = {Stamp::Kind::epoch, *seconds, 0};
        }
      }
    }
    if (outside.has_time) {
      row.has_time = true;
      row.time = outside.time;
    }
    for (const std::string_view key : kLabels) {
      std::string_view label;
      if (row.prefix.empty() && json_.object()[key].get(label) == simdjson::SUCCESS) {
        row.prefix = label;
      }
    }
    return ours;
  }

  [[nodiscard]] std::string describe() const override { return "text inside JSON objects"; }
  [[nodiscard]] bool repeats(std::string_view /*line*/) const override { return false; }
  void reread(LogCell& /*cell*/) const override {}
  [[nodiscard]] const ColumnNames& columns() const override { return inner_->columns(); }
  void freeze() override { inner_->freeze(); }
  void want(const std::vector<uint32_t>& columns) override {
    inner_->want(columns);
    remembered_.emplace(*inner_);
  }

 private:
  NumberStyle style_;
  JsonLine json_;
  std::unique_ptr<LogLayout> inner_;
  std::optional<CutCache> remembered_;  // Once it is known what is wanted.
};

}  // namespace

std::unique_ptr<LogLayout> json_layout(const NumberStyle& style) {
  return std::make_unique<JsonLayout>(style);
}

std::unique_ptr<LogLayout> json_text_layout(const NumberStyle& style) {
  return std::make_unique<JsonTextLayout>(style);
}

}  // namespace plateau
