// SPDX-License-Identifier: Apache-2.0
#include "import/envelope.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "import/line_stamp.h"
#include "import/reading_parts.h"
#include "import/words.h"

namespace plateau {
namespace {

constexpr size_t kMostWords = 4;
constexpr size_t kFewestLines = 6;
constexpr size_t kWidestGap = 8;
// Nineteen lines of twenty: the first and the last may be cut, and a program's own error may stand
// between.
constexpr size_t kOf = 20;

bool nearly_all(size_t some, size_t all) {
  return (all - some) * kOf <= all;
}

// Where the time ends that a line begins with, and what belongs to it: its zone, a bracket.
struct TimeInFront {
  Stamp time;
  size_t at = 0;
  size_t end = 0;
};

std::optional<TimeInFront> time_in_front(std::string_view line) {
  const size_t at = line.starts_with('[') ? 1 : 0;
  if (at >= line.size()) return std::nullopt;
  const auto stamp = stamp_at(line, at);
  if (!stamp) return std::nullopt;
  size_t end = behind_zone(line, at + stamp->length);
  if (at > 0 && end < line.size() && line[end] == ']') ++end;
  if (end < line.size() && line[end] != ' ' && line[end] != '\t') return std::nullopt;
  return TimeInFront{*stamp, at, end};
}

// The word that begins behind the one blank at `at`; moves `at` to its end. Empty: there is none.
std::string_view word_behind(std::string_view line, size_t& at) {
  if (at >= line.size() || line[at] != ' ') return {};
  const size_t begin = at + 1;
  const size_t end = std::min(line.find(' ', begin), line.size());
  at = end;
  return line.substr(begin, end - begin);
}

// "node-3", "gpu01", "mem2[512]:": the name of a machine or a program, whatever it may mean; a word
// before a colon may name a figure.
bool is_a_name(std::string_view word) {
  const bool digits = std::any_of(word.begin(), word.end(), is_digit);
  const bool tag = word.ends_with("]:");
  return digits && is_letter(word.front()) &&
         (tag || is_letter(word.back()) || is_digit(word.back()));
}

// What lines may share of a word: all of it, or that it is a level. Empty: it is none of the
// collector's, because it means something, or is a figure.
std::string_view shared_part(std::string_view word) {
  std::string_view letters = word;
  while (!letters.empty() && !is_letter(letters.front())) letters.remove_prefix(1);
  while (!letters.empty() && !is_letter(letters.back())) letters.remove_suffix(1);
  const WordBits bits = word_bits(letters);
  if ((bits & kWordLevel) != 0) return "INFO";
  if (letters.empty() || word.find('=') != std::string_view::npos) return {};
  // "[Shard 0]": half of a tag names what stands in the other half.
  const auto count = [word](char c) { return std::count(word.begin(), word.end(), c); };
  if (count('[') != count(']') || count('(') != count(')')) return {};
  return bits == 0 || is_a_name(word) ? word : std::string_view();
}

class LayoutInEnvelope : public LogLayout {
 public:
  LayoutInEnvelope(const Envelope& envelope, std::unique_ptr<LogLayout> inner)
      : envelope_(envelope), inner_(std::move(inner)) {}

  bool cut(std::string_view line, CellRow& row) override {
    const auto opened = envelope_.open(line);
    const bool ours = inner_->cut(opened ? opened->rest : std::string_view(), row);
    if (!opened) return ours;
    const auto before = static_cast<size_t>(opened->rest.data() - line.data());
    if (!row.has_time) {
      row.has_time = true;
      row.time = opened->time;
      row.time_at = opened->time_at;
    } else if (row.time_at != CellRow::kNoTimeAt) {
      row.time_at += before;
    }
    return ours;
  }
  [[nodiscard]] std::string describe() const override {
    return inner_->describe() + " behind a collector's prefix";
  }
  [[nodiscard]] bool repeats(std::string_view line) const override {
    const auto opened = envelope_.open(line);
    return opened && inner_->repeats(opened->rest);
  }
  void reread(LogCell& cell) const override { inner_->reread(cell); }
  void want(const std::vector<uint32_t>& columns) override { inner_->want(columns); }
  [[nodiscard]] const ColumnNames& columns() const override { return inner_->columns(); }
  void freeze() override { inner_->freeze(); }

 private:
  Envelope envelope_;
  std::unique_ptr<LogLayout> inner_;
};

}  // namespace

std::optional<Envelope> Envelope::of(const std::vector<std::string_view>& lines) {
  size_t filled = 0;
  size_t timed = 0;
  for (const std::string_view line : lines) {
    if (trim(line).empty()) continue;
    ++filled;
    timed += time_in_front(line) ? 1 : 0;
  }
  if (timed < kFewestLines || !nearly_all(timed, filled)) return std::nullopt;
  size_t words = 0;
  for (; words < kMostWords; ++words) {
    std::unordered_map<std::string_view, size_t> counts;
    size_t most = 0;
    for (const std::string_view line : lines) {
      const auto front = time_in_front(line);
      size_t at = front ? front->end : line.size();
      std::string_view word;
      for (size_t i = 0; i <= words; ++i) word = word_behind(line, at);
      word = shared_part(word);
      if (!word.empty()) most = std::max(most, ++counts[word]);
    }
    if (!nearly_all(std::min(most, timed), timed)) break;
  }
  Envelope found;
  found.words_ = words;
  size_t gap = kWidestGap;
  for (const std::string_view line : lines) {
    const auto opened = found.open(line);
    if (!opened || trim(opened->rest).empty()) continue;
    gap = std::min(gap, opened->rest.find_first_not_of(' '));
  }
  found.gap_ = gap;
  return found;
}

std::optional<Envelope::Opened> Envelope::open(std::string_view line) const {
  const auto front = time_in_front(line);
  if (!front) return std::nullopt;
  size_t at = front->end;
  for (size_t i = 0; i < words_; ++i) word_behind(line, at);
  for (size_t i = 0; i < gap_ && at < line.size() && line[at] == ' '; ++i) ++at;
  return Opened{line.substr(at), front->time, front->at};
}

void add_sheets_in(const Envelope& envelope, const std::vector<std::string_view>& lines,
                   const NumberStyle& style, std::vector<Sheet>& sheets) {
  std::vector<std::string_view> inside(lines.size());
  std::vector<std::optional<Envelope::Opened>> opened(lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    opened[i] = envelope.open(lines[i]);
    if (opened[i]) inside[i] = opened[i]->rest;
  }
  for (Sheet& sheet : read_sheets(inside, style)) {
    for (SheetRow& row : sheet.rows) {
      if (row.has_time || !opened[row.line]) continue;
      row.has_time = true;
      row.time = opened[row.line]->time;
    }
    sheet.layout = layout_in(envelope, std::move(sheet.layout));
    sheet.opened = true;
    sheets.push_back(std::move(sheet));
  }
}

std::unique_ptr<LogLayout> layout_in(const Envelope& envelope, std::unique_ptr<LogLayout> inner) {
  return std::make_unique<LayoutInEnvelope>(envelope, std::move(inner));
}

}  // namespace plateau
