// SPDX-License-Identifier: Apache-2.0
// The layout `lines` of cells.h: free text, where words name the numbers near them.
#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/text.h"
#include "base/units.h"
#include "import/cells.h"
#include "import/line_context.h"
#include "import/line_layout.h"
#include "import/line_stamp.h"
#include "import/slot_name.h"
#include "import/typed_line.h"
#include "import/words.h"

namespace plateau {
namespace {

constexpr size_t kMostCells = 64;  // Of a line.
constexpr size_t kLongestLine = 16u << 10;

}  // namespace

NameWord LineLayout::read(size_t at) const {
  const ReadWord found = read_word(line_, at);
  uint64_t hash = kWordSeed;
  for (size_t i = at; i < found.end; ++i) {
    hash = mix_words(hash, static_cast<unsigned char>(ascii_lower(line_[i])));
  }
  return {hash, at, found.end, found.bits};
}

bool LineLayout::starts_token() const {
  const char left = at_ > 0 ? line_[at_ - 1] : ' ';
  return !is_letter(left) && !is_digit(left) && left != '_' && left != '.';
}

void LineLayout::fresh_start() {
  for (size_t i = 0; i < count_; ++i) {
    if ((words_[i].bits & kWordSubject) != 0) subject_ = words_[i];
  }
  count_ = 0;
  ordinal_ = 0;
}

// What stands before names nothing behind: a comma, a bar, a dash as writers use it, the end of a
// sentence ("Pausing.  Process memory", but "Max. RSS"), the name of a logger ("app.Main - 5 MB").
bool LineLayout::ends_phrase(char c) const {
  if (c == ',' && names_what_follows()) return false;
  if (c == ',' || c == ';' || c == '|') return true;
  if (c == ']') return closes_a_tag(line_, at_);
  // "14G used (1855M wired": "used" is said of the number before it.
  if (c == '(' && count_ == 1 && last_end_ > 0 && words_[0].begin <= last_end_ + 1) {
    return (words_[0].bits & (kWordUsed | kWordNotUsage)) != 0 &&
           opens_other_figures(line_, at_, style_);
  }
  const std::string_view rest = line_.substr(at_);
  if (count_ == 0) return false;
  const NameWord& last = words_[count_ - 1];
  if (c == '.') {
    const size_t next = rest.find_first_not_of(' ', 1);
    const bool apart = next != std::string_view::npos && next > 1;
    return apart && rest[next] >= 'A' && rest[next] <= 'Z' && last.end == at_ &&
           last.end - last.begin > 4;
  }
  if (c != '-') return false;
  if (rest.starts_with("-- ")) return true;
  if (!rest.starts_with("- ") || at_ == 0 || line_[at_ - 1] != ' ') return false;
  if (last.end + 1 != at_) return false;
  size_t begin = last.begin;
  while (begin > 0 && is_letter(line_[begin - 1])) --begin;
  return (begin > 0 && line_[begin - 1] == '.') || (last.bits & kWordLevel) != 0;
}

// "Private bytes, 22,74 MB": the comma stands where others write a colon.
bool LineLayout::names_what_follows() const {
  const size_t next = line_.find_first_not_of(' ', at_ + 1);
  return count_ > 0 && last_end_ == 0 && next != std::string_view::npos && is_digit(line_[next]) &&
         words_[count_ - 1].end == at_;
}

void LineLayout::take_word(const NameWord& found) {
  at_ = found.end;
  if (ordinal_ > 0) fresh_start();
  if (count_ == words_.size()) {
    std::move(words_.begin() + 1, words_.end(), words_.begin());
    --count_;
  }
  words_[count_++] = found;
  before_ = mix_words(before_, found.hash);
  nameless_ = 0;
}

void LineLayout::word() {
  const NameWord found = read(at_);
  take_word(found);
  if (at_ < line_.size() && line_[at_] == '=') label(found);
}

// No word of this table, but it tells names apart: "系统memory" is not "累计memory".
void LineLayout::foreign_word(size_t end) {
  NameWord found = {kWordSeed, at_, end, 0};
  for (size_t i = at_; i < end; ++i) {
    found.hash = mix_words(found.hash, static_cast<unsigned char>(line_[i]));
  }
  take_word(found);
}

// "source=web.1": whose line it is.
void LineLayout::label(const NameWord& key) {
  LogCell cell;
  cell.text = label_behind(line_, key.begin, key.end);
  if (cell.text.empty() || row_->cells.size() >= kMostCells) return;
  cells_ = true;
  cell.column = columns_.of(mix_words(key.hash, 8), line_.substr(key.begin, key.end - key.begin));
  if (cell.column != kNoColumn && is_wanted(cell.column)) row_->cells.push_back(cell);
}

bool LineLayout::stamp() {
  if (!starts_token()) return false;
  const auto found = stamp_at(line_, at_);
  if (!found) return false;
  if (!row_->has_time) {
    row_->has_time = true;
    row_->time = *found;
    row_->time_at = at_;
  }
  at_ += found->length;
  return true;
}

void LineLayout::number() {
  if (numbered_name() || place()) return;
  LogCell cell;
  cell.number = read_numeral(line_, at_, style_);
  const Numeral& number = cell.number;
  if (number.garbled || number.unit == Numeral::Unit::other) {
    at_ = std::max(number.end, at_ + 1);
    while (at_ < line_.size() &&
           (is_letter(line_[at_]) || is_digit(line_[at_]) || line_[at_] == '.'))
      ++at_;
    return;
  }
  cell.numeric = true;
  figures_ = figures_ || !number.glued;
  cell.text = line_.substr(number.begin, number.unit_end - number.begin);
  const std::string_view gap = last_end_ > 0 ? gap_between(line_, last_end_, number.begin) : "";
  at_ = number.unit_end;
  // "2.1 (38.5) -> 1.9 (38.5) MB": what stands in brackets is no link of the chain.
  if (gap == "(" && at_ < line_.size() && line_[at_] == ')') {
    last_end_ = ++at_;
    return;
  }
  take_unit_behind_brackets(line_, style_, cell.number);
  const SameInBrackets twin = same_in_brackets(line_, number, style_);
  by_value_ = by_value_ || twin.compared;
  if (twin.end > 0) {
    cell.number.unit = Numeral::Unit::memory;
    cell.number.unit_mb = twin.unit_mb;
  }
  last_end_ = number.unit_end;
  if (number.unit == Numeral::Unit::percent) skip_how();
  if (last_column_ != kNoColumn &&
      (gap == "/" || gap == "of" || gap == "out of" || gap == "sur" || gap == "von")) {
    if (!row_->cells.empty() && row_->cells.back().column == last_column_) {
      add_limit(row_->cells.back(), number);
      row_->cells.back().limit_text = line_.substr(number.begin, number.unit_end - number.begin);
    }
    return;
  }
  cell.after_arrow = gap == ">" || gap == "->" || gap == "=>";
  if (cell.after_arrow && last_column_ != kNoColumn) {
    cell.column = last_column_;
    share_unit(number);
  } else {
    name_cell(cell);
    ++ordinal_;
  }
  last_column_ = cell.column;
  cells_ = true;
  if (row_->cells.size() < kMostCells && cell.column != kNoColumn && is_wanted(cell.column)) {
    row_->cells.push_back(cell);
  }
}

// "15% free 12345K/14535K": "free" is said of the percentage, and names nothing behind it.
void LineLayout::skip_how() {
  const size_t begin = line_.find_first_not_of(' ', at_);
  if (begin == std::string_view::npos || !is_letter(line_[begin])) return;
  const NameWord found = read(begin);
  const size_t next = line_.find_first_not_of(' ', found.end);
  if ((found.bits & (kWordUsed | kWordNotUsage)) == 0 || next == std::string_view::npos) return;
  if (is_digit(line_[next])) at_ = found.end;
}

// "351 > 410 > 417 MB": the unit at the end is that of all.
void LineLayout::share_unit(const Numeral& last) {
  if (last.unit != Numeral::Unit::memory) return;
  for (auto cell = row_->cells.rbegin(); cell != row_->cells.rend(); ++cell) {
    if (cell->column != last_column_ || cell->number.unit != Numeral::Unit::none) return;
    cell->number.unit = last.unit;
    cell->number.unit_mb = last.unit_mb;
  }
}

// The unit and the sign stand where they stood.
void LineLayout::reread(LogCell& cell) const {
  if (cell.number.plain && cell.limit_text.empty()) {
    cell.number.value = value_again(cell.text, cell.number);
    return;
  }
  const auto value_of = [this](std::string_view text) {
    size_t at = 0;
    while (at < text.size() && !is_digit(text[at])) ++at;
    return at < text.size() ? read_numeral(text, at, style_) : Numeral{};
  };
  cell.number.value = value_of(cell.text).value;
  if (cell.limit_text.empty()) return;
  const Numeral limit = value_of(cell.limit_text);
  cell.limit_mb = limit.value * limit.unit_mb;
}

bool LineLayout::cut(std::string_view line, CellRow& row) {
  row.clear();
  line_ = line.substr(0, kLongestLine);
  row_ = &row;
  // A prefix may also name what follows it ("RAM: 512 MB"), so it is read again.
  read_prefix(line_, row);
  at_ = row.has_time && row.time_begin == 0 ? row.time_end : 0;
  fresh_start();
  before_ = kWordSeed;
  first_phrase_ = 0;
  nameless_ = 0;
  last_column_ = kNoColumn;
  last_end_ = 0;
  chains_ = 0;
  subject_ = lead_ = numbered_ = {};
  keys_.clear();
  section_ = sections_.over(line_);
  figures_ = by_value_ = cells_ = false;
  if (std::string typed = named_at_a_prompt(line_); !typed.empty()) {
    above_ = std::move(typed);
    by_above_ = false;
    return row.has_time;
  }
  const size_t answer = behind_answer_mark(line_);
  by_above_ = !above_.empty() && is_lone_number(line_.substr(answer), style_);
  if (by_above_ && !above_counts_) {
    const SlotName name = weigh_name(above_);
    by_above_ = above_counts_ = name.memory && name.clock == SlotName::Clock::none;
  }
  at_ = std::max(at_, answer);
  while (at_ < line_.size()) {
    const char c = line_[at_];
    if (is_digit(c)) {
      if (!stamp()) number();
    } else if (is_letter(c)) {
      if (!starts_token() || !stamp()) word();
    } else if (const size_t end = end_of_foreign_word(line_, at_); end > at_) {
      foreign_word(end);
    } else {
      if (ends_phrase(c)) fresh_start();
      ++at_;
    }
  }
  above_ = before_ != kWordSeed ? names_next_line(line_, !cells_) : std::string_view();
  sections_.see(line_, figures_);
  return !row.cells.empty() || row.has_time;
}

std::unique_ptr<LogLayout> line_layout(const NumberStyle& style,
                                       std::unordered_set<uint64_t> distinct) {
  return std::make_unique<LineLayout>(style, std::move(distinct));
}

}  // namespace plateau
