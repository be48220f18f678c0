// SPDX-License-Identifier: Apache-2.0
// Whose memory a reading is: a label that stands in the line, before it, or nowhere.
//
// A label is right when it makes the course smoother: two containers in turn jump between 297 and
// 80 MB, each alone does not move. The length of the path that the figures run through (the sum of
// all their steps) with the label, by that without, must be below 0.55; for columns that are named
// like labels (pid, rank, container) interleaving is enough. Of several the one that smooths most
// wins, of near equals the one with the fewest series.
#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"
#include "import/reading_parts.h"

namespace plateau {
namespace {

constexpr double kNearlyEqual = 0.1;
constexpr size_t kMostSeries = 1024;

struct Split {
  double ratio = 1;        // Of the path's length, with the label by without.
  double interleaved = 0;  // Share of readings whose label is not that of the one before.
  size_t series = 0;
};

Split split_by(const std::vector<double>& values, const std::vector<uint64_t>& labels) {
  Split split;
  std::unordered_map<uint64_t, double> last;
  double whole = 0;
  double within = 0;
  size_t changes = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) whole += std::fabs(values[i] - values[i - 1]);
    if (i > 0 && labels[i] != labels[i - 1]) ++changes;
    const auto [found, is_new] = last.try_emplace(labels[i], values[i]);
    if (!is_new) within += std::fabs(values[i] - found->second);
    found->second = values[i];
  }
  split.series = last.size();
  split.ratio = whole > 0 ? within / whole : 1;
  split.interleaved =
      values.size() > 1 ? static_cast<double>(changes) / static_cast<double>(values.size() - 1) : 0;
  return split;
}

// The label of each of `memory`'s readings by the cells of `column` in the same row; empty if too
// many rows have none.
std::vector<uint64_t> by_column(const Sheet& sheet, uint32_t memory, uint32_t column) {
  std::vector<uint64_t> of_row(sheet.rows.size(), 0);
  const SheetColumn& from = sheet.columns[column];
  for (size_t i = 0; i < from.labels.size(); ++i) of_row[from.label_rows[i]] = from.labels[i];
  std::vector<uint64_t> labels;
  labels.reserve(sheet.columns[memory].rows.size());
  size_t missing = 0;
  for (const uint32_t row : sheet.columns[memory].rows) {
    labels.push_back(of_row[row]);
    missing += of_row[row] == 0 ? 1 : 0;
  }
  if (missing * 10 > labels.size()) return {};
  return labels;
}

std::vector<uint64_t> by_prefix(const Sheet& sheet, uint32_t memory) {
  std::vector<uint64_t> labels;
  labels.reserve(sheet.columns[memory].rows.size());
  size_t missing = 0;
  for (const uint32_t row : sheet.columns[memory].rows) {
    labels.push_back(sheet.rows[row].prefix);
    missing += labels.back() == 0 ? 1 : 0;
  }
  if (missing * 10 > labels.size()) return {};
  return labels;
}

// Under a header that comes again and again each of several things has one row: a label that comes
// twice below it names more than one of them.
bool comes_twice_in_a_block(const Sheet& sheet, uint32_t memory,
                            const std::vector<uint64_t>& labels) {
  if (sheet.blocks < 3) return false;
  std::unordered_map<uint64_t, size_t> met;
  uint32_t block = 0;
  size_t twice = 0;
  size_t out_of_turn = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    const uint32_t here = sheet.rows[sheet.columns[memory].rows[i]].block;
    if (here != block) met.clear();
    block = here;
    const size_t before = met[labels[i]]++;
    twice += before > 0 ? 1 : 0;
    // Once more while another is still at fewer: not a round after the other.
    out_of_turn += std::any_of(met.begin(), met.end(),
                               [before](const auto& other) { return other.second < before; });
  }
  // A header that comes every tenth round heads ten of each, all in turn.
  const bool rounds = out_of_turn * 10 <= labels.size() && twice * 2 > labels.size();
  return twice * 10 > labels.size() && !rounds;
}

bool is_plausible(const Split& split, size_t readings, bool named) {
  if (split.series < 2 || split.series > kMostSeries || split.series * 2 > readings) return false;
  if (split.ratio < kSmoother) return true;
  return named && split.interleaved > 0.3 && split.ratio < 1.05;
}

// A number that counts is a clock, not a label.
bool counts_up(const SheetColumn& column) {
  size_t rises = 0;
  for (size_t i = 1; i < column.values.size(); ++i)
    rises += column.values[i] > column.values[i - 1];
  return column.values.size() > 3 && rises * 10 > column.values.size() * 9;
}

// Line profilers print a row for each line of code: where the process was, not whose memory it is.
bool is_line_of_code(const SheetColumn& column) {
  return lists("line,line contents,line number,lineno", ",", plain_words(column.title));
}

// vmstat's share of idle time, between "sy" and "wa".
bool is_idle_time(const Sheet& sheet, uint32_t column) {
  return column > 0 && trim(sheet.columns[column].title) == "id" &&
         trim(sheet.columns[column - 1].title) == "sy";
}

bool few_different(const std::vector<uint64_t>& labels) {
  const std::unordered_set<uint64_t> different(labels.begin(), labels.end());
  return different.size() >= 2 && different.size() <= 64 && different.size() * 4 <= labels.size();
}

}  // namespace

double smoothing(const std::vector<double>& mb, const std::vector<uint64_t>& labels) {
  return split_by(mb, labels).ratio;
}

std::vector<uint64_t> labels_of(const Sheet& sheet, uint32_t memory, const Reading& reading) {
  if (reading.series == SeriesBy::prefix) return by_prefix(sheet, memory);
  if (reading.series == SeriesBy::column) return by_column(sheet, memory, reading.series_column);
  return {};
}

void choose_series(const Sheet& sheet, uint32_t memory, const ReadingWishes& wishes,
                   Reading& reading) {
  if (equal_ignoring_case(wishes.series, "none")) return;
  const SheetColumn& column = sheet.columns[memory];
  if (column.arrows > 0) return;  // A chain is one series.
  std::vector<double> mb(column.values.size());
  for (size_t i = 0; i < mb.size(); ++i) mb[i] = column.mb(i, reading.memory.front().bare_mb);

  Split best;
  best.ratio = 2;
  const auto consider = [&](const std::vector<uint64_t>& labels, bool named, SeriesBy by,
                            uint32_t at) {
    if (labels.empty() || comes_twice_in_a_block(sheet, memory, labels)) return;
    const Split split = split_by(mb, labels);
    if (!is_plausible(split, labels.size(), named)) return;
    const bool smoother = split.ratio < best.ratio - kNearlyEqual;
    const bool simpler = split.ratio < best.ratio + kNearlyEqual && split.series < best.series;
    if (!smoother && !simpler) return;
    best = split;
    reading.series = by;
    reading.series_column = at;
    reading.series_title = by == SeriesBy::prefix ? "" : std::string(trim(sheet.columns[at].title));
  };
  if (wishes.series.empty()) consider(by_prefix(sheet, memory), true, SeriesBy::prefix, kNoColumn);
  for (uint32_t i = 0; i < sheet.columns.size(); ++i) {
    const SheetColumn& other = sheet.columns[i];
    if (i == memory || other.times > 0 || other.labels.empty()) continue;
    const bool asked =
        !wishes.series.empty() && (equal_ignoring_case(trim(other.title), wishes.series) ||
                                   plain_words(other.title) == plain_words(wishes.series));
    if (!wishes.series.empty() && !asked) continue;
    if (!asked && (is_line_of_code(other) || is_idle_time(sheet, i))) continue;
    const bool numbers = other.values.size() > other.texts;
    const bool unnamed = other.title.starts_with("column ") && few_different(other.labels);
    if (!asked && numbers && !other.name.label && other.glued == 0 && !unnamed) continue;
    if (!asked && numbers && (counts_up(other) || other.decimals > 0)) continue;
    consider(by_column(sheet, memory, i), other.name.label || asked, SeriesBy::column, i);
  }
  reading.series_is_pid =
      reading.series == SeriesBy::column && plain_words(reading.series_title).ends_with("pid");
}

}  // namespace plateau
