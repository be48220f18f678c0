// SPDX-License-Identifier: Apache-2.0
// The layout `lines` of cells.h: free text, where words name the numbers near them.
#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

#include "base/text.h"
#include "base/units.h"
#include "import/cells.h"
#include "import/line_context.h"
#include "import/line_stamp.h"
#include "import/slot_name.h"
#include "import/words.h"

namespace plateau {
namespace {

constexpr size_t kMostWords = 12;  // Of a name; earlier ones are forgotten.
constexpr size_t kMostCells = 64;  // Of a line.
constexpr size_t kLongestLine = 16u << 10;
constexpr size_t kPostfixWords = 3;
// What "used" and "free" later in the line are said of.
constexpr WordBits kWordSubject = kWordMemory | kWordRss | kWordPss | kWordUss;
constexpr uint64_t kSeed = 0xcbf29ce484222325ull;

uint64_t mix(uint64_t hash, uint64_t more) {
  hash ^= more;
  hash *= 0x100000001b3ull;
  return hash ^ (hash >> 29);
}

struct Word {
  uint64_t hash;
  size_t begin;
  size_t end;
  WordBits bits;
};

uint64_t hash_of_words(std::string_view line) {
  uint64_t hash = kSeed;
  for (const char c : line) {
    if (is_letter(c)) hash = mix(hash, static_cast<unsigned char>(ascii_lower(c)));
  }
  return hash;
}

class LineLayout : public LogLayout {
 public:
  LineLayout(const NumberStyle& style, std::unordered_set<uint64_t> distinct)
      : style_(style), distinct_(std::move(distinct)) {}

  bool cut(std::string_view line, CellRow& row) override;
  [[nodiscard]] std::string describe() const override { return "lines of text"; }
  // Everything but times is decided by words and by where digits stand, except in a log where lines
  // name the number below them, or the section that it is in does.
  [[nodiscard]] bool repeats(std::string_view /*line*/) const override {
    return !above_counts_ && !section_counts_ && !by_value_;
  }
  void reread(LogCell& cell) const override;
  void freeze() override {
    LogLayout::freeze();
    frozen_ = true;
  }

 private:
  void word();
  void number();
  void label(const Word& key);
  bool stamp();
  void fresh_start();
  [[nodiscard]] bool ends_phrase(char c) const;
  [[nodiscard]] bool names_what_follows() const;
  [[nodiscard]] bool says_only_how() const;
  void name_by_subject(uint64_t& key, size_t begin, size_t end);
  [[nodiscard]] bool starts_token() const;
  [[nodiscard]] bool postfix(const Numeral& number, uint64_t& key, size_t& begin,
                             size_t& end) const;
  void name_cell(LogCell& cell);
  void place_cell(uint64_t key, size_t begin, size_t end, LogCell& cell);
  void share_unit(const Numeral& last);
  void skip_how();
  [[nodiscard]] uint64_t chain_key(const Numeral& number);
  [[nodiscard]] Word read(size_t at) const;

  NumberStyle style_;
  std::unordered_set<uint64_t> distinct_;
  bool frozen_ = false;
  std::string_view line_;
  CellRow* row_ = nullptr;
  size_t at_ = 0;
  std::array<Word, kMostWords> words_{};
  size_t count_ = 0;     // Of words that wait for a number,
  size_t ordinal_ = 0;   // and the numbers that they have named already.
  uint64_t before_ = 0;  // All words of the line so far.
  size_t nameless_ = 0;  // Numbers since the last of them.
  uint32_t last_column_ = kNoColumn;
  size_t last_end_ = 0;         // Of the number before.
  size_t chains_ = 0;           // Without a name, so far in the line.
  Word subject_{};              // The last word for memory in a phrase that is over; empty: none.
  std::vector<uint64_t> keys_;  // Of the names met in this line, while they may matter.
  std::string name_;            // Of a column whose words stand apart.
  std::string above_;           // The line before, if it has words and no number,
  bool by_above_ = false;       // named the only number of this one,
  bool above_counts_ = false;   // or of any, and says memory.
  Sections sections_;
  std::string_view section_;     // Over this line; empty: none.
  bool figures_ = false;         // Stand in this line, wanted or not.
  bool by_value_ = false;        // Its digits decided something.
  bool section_counts_ = false;  // Tells columns of the same name apart.
};

Word LineLayout::read(size_t at) const {
  const ReadWord found = read_word(line_, at);
  uint64_t hash = kSeed;
  for (size_t i = at; i < found.end; ++i) {
    hash = mix(hash, static_cast<unsigned char>(ascii_lower(line_[i])));
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
  const Word& last = words_[count_ - 1];
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

void LineLayout::word() {
  const Word found = read(at_);
  at_ = found.end;
  if (ordinal_ > 0) fresh_start();
  if (count_ == words_.size()) {
    std::move(words_.begin() + 1, words_.end(), words_.begin());
    --count_;
  }
  words_[count_++] = found;
  before_ = mix(before_, found.hash);
  nameless_ = 0;
  if (at_ < line_.size() && line_[at_] == '=') label(found);
}

// "source=web.1": whose line it is.
void LineLayout::label(const Word& key) {
  LogCell cell;
  cell.text = label_behind(line_, key.begin, key.end);
  if (cell.text.empty() || row_->cells.size() >= kMostCells) return;
  cell.column = columns_.of(mix(key.hash, 8), line_.substr(key.begin, key.end - key.begin));
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

// "(60 MB heap size)", "512 MB of memory used": named by what follows, up to the next number.
bool LineLayout::postfix(const Numeral& number, uint64_t& key, size_t& begin, size_t& end) const {
  WordBits bits = 0;
  key = kSeed;
  const size_t twin =
      same_in_brackets(line_, read_numeral(line_, number.begin, style_), style_).end;
  begin = end = std::max(number.unit_end, twin);
  size_t words = 0;
  for (size_t at = begin; at < line_.size() && words < kPostfixWords;) {
    const char c = line_[at];
    // "34.8 MiB  Total memory: 538 KiB": those words name the next one.
    if (c == ':' || c == '=') return false;
    if (is_digit(c) || c == ',' || c == ';' || c == '|' || c == '/') break;
    if (!is_letter(c)) {
      ++at;
      continue;
    }
    const Word found = read(at);
    if (words++ == 0) begin = at;
    key = mix(key, found.hash);
    bits |= found.bits;
    at = end = found.end;
  }
  end = end_of_unit_behind(line_, end);
  const size_t next = std::min(line_.find_first_not_of(' ', end), line_.size());
  if (next < line_.size() && (line_[next] == ':' || line_[next] == '=')) return false;
  if ((bits & (kWordMemoryKey & ~kWordFile)) != 0) return true;
  // "1179056 bytes in use"
  return number.unit == Numeral::Unit::memory && words > 0 &&
         weigh_name(line_.substr(begin, end - begin)).used;
}

// "used", "free", "total" and the like, and no word for what: "heap total 4096K, used 3158K".
bool LineLayout::says_only_how() const {
  if (count_ == 0 || subject_.end == 0) return false;
  return std::all_of(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(count_),
                     [](const Word& word) {
                       constexpr WordBits kHow = kWordUsed | kWordNotUsage;
                       return (word.bits & kHow) != 0 && (word.bits & ~(kHow | kWordContext)) == 0;
                     });
}

// The phrase from `begin` to `end` says how much is used or free of what was named before it.
void LineLayout::name_by_subject(uint64_t& key, size_t begin, size_t end) {
  for (size_t i = 0; i < count_; ++i) key = mix(key, words_[i].hash);
  key = mix(key, subject_.hash);
  name_.assign(line_.substr(subject_.begin, subject_.end - subject_.begin));
  name_ += ' ';
  name_ += line_.substr(begin, end - begin);
}

// Gives the cell its column; see the head of cells.h.
void LineLayout::name_cell(LogCell& cell) {
  const Numeral& number = cell.number;
  size_t from = count_;
  for (size_t i = 0; i < count_; ++i) {
    if ((words_[i].bits & kWordMemoryKey) != 0) {
      from = i;
      break;
    }
  }
  uint64_t key = kSeed;
  size_t begin = 0;
  size_t end = 0;
  if (by_above_) {
    cell.column = columns_.of(mix(hash_of_words(above_), 5), above_);
    return;
  }
  if (says_only_how()) {
    name_by_subject(key, words_[0].begin, words_[count_ - 1].end);
    cell.column = columns_.of(mix(mix(key, 4), ordinal_), name_);
    return;
  }
  if (from < count_) {
    for (size_t i = 0; i < from; ++i) {
      cell.variant = mix(cell.variant, words_[i].hash);
      if ((words_[i].bits & (kWordNotUsage | kWordSystem | kWordCpu)) != 0)
        key = mix(key, words_[i].hash);
    }
    for (size_t i = from; i < count_; ++i) key = mix(key, words_[i].hash);
    begin = words_[0].begin;
    for (size_t i = 0; i < from; ++i) {
      if ((words_[i].bits & (kWordNotUsage | kWordSystem | kWordCpu)) != 0) break;
      begin = words_[i + 1].begin;
    }
    end = words_[count_ - 1].end;
  } else if (ordinal_ == 0 && !number.glued &&
             (count_ == 0 || number.unit == Numeral::Unit::memory) &&
             postfix(number, key, begin, end)) {
    key = mix(key, 1);
  } else if (number.unit == Numeral::Unit::memory && arrow_follows(line_, number)) {
    // Whatever the line is about: collectors write "Pause Young 80M->8M" and "Remark 39M->39M".
    // A line may hold several such pairs: those of the young generation, then those of all.
    cell.column = columns_.of(chain_key(number), "");
    return;
  } else if (count_ > 0) {
    for (size_t i = 0; i < count_; ++i) key = mix(key, words_[i].hash);
    begin = words_[0].begin;
    end = words_[count_ - 1].end;
  } else {
    key = mix(mix(before_, 2), nameless_++);
    begin = end = 0;
  }
  if (count_ > 0) key = mix(key, 16 + ordinal_);
  cell.ordinal = ordinal_;
  place_cell(key, begin, end, cell);
}

// The column of a cell whose words, from `begin` to `end`, make `key`: that of its section, if it
// is told apart by that, and of what the words behind a pair say.
void LineLayout::place_cell(uint64_t key, size_t begin, size_t end, LogCell& cell) {
  // A number without words is none of the section's figures.
  const std::string_view section = end > begin ? section_ : std::string_view();
  // "Mem:120M (Peak 156M) | … | Mem:72M": the second time it may be of another thing.
  if (!frozen_ || distinct_.contains(key)) {
    const auto before = std::count(keys_.begin(), keys_.end(), key);
    if (before > 0) cell.variant = mix(cell.variant, static_cast<uint64_t>(before));
    if (distinct_.contains(key)) cell.ordinal += static_cast<size_t>(before);
    keys_.push_back(key);
  }
  if (!section.empty() && (!frozen_ || distinct_.contains(key))) {
    cell.variant = mix(cell.variant, hash_of_words(section));
  }
  if (distinct_.contains(key)) {
    cell.family = key;
    begin = count_ > 0 ? words_[0].begin : begin;
    key = mix(key, cell.variant);
    section_counts_ = section_counts_ || !section.empty();
  }
  name_.assign(cell.family != 0 ? section : std::string_view());
  if (!name_.empty()) name_ += ' ';
  name_ += line_.substr(begin, end - begin);
  if (const std::string_view free = free_behind_pair(line_, cell.number); !free.empty()) {
    name_ += ' ';
    name_ += free;
    key = mix(key, 7);
  }
  cell.column = columns_.of(key, name_);
}

// "[PSYoungGen: 937984K->678408K] [ParOldGen: 2342580K->2342579K] 3280564K->3020988K": pairs right
// behind a name of their own are that one's; the others are told apart by their order.
uint64_t LineLayout::chain_key(const Numeral& number) {
  const std::string_view before = trim(line_.substr(0, number.begin));
  const bool named = count_ > 0 && before.ends_with(':') &&
                     words_[count_ - 1].end + 1 == before.size() + (before.data() - line_.data());
  if (named) return mix(mix(kSeed, 6), words_[count_ - 1].hash);
  return mix(mix(kSeed, 3), chains_++);
}

void LineLayout::number() {
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
  if (row_->cells.size() < kMostCells && cell.column != kNoColumn && is_wanted(cell.column)) {
    row_->cells.push_back(cell);
  }
}

// "15% free 12345K/14535K": "free" is said of the percentage, and names nothing behind it.
void LineLayout::skip_how() {
  const size_t begin = line_.find_first_not_of(' ', at_);
  if (begin == std::string_view::npos || !is_letter(line_[begin])) return;
  const Word found = read(begin);
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
  before_ = kSeed;
  nameless_ = 0;
  last_column_ = kNoColumn;
  last_end_ = 0;
  chains_ = 0;
  subject_ = {};
  keys_.clear();
  section_ = sections_.over(line_);
  figures_ = by_value_ = false;
  by_above_ = !above_.empty() && is_lone_number(line_, style_);
  if (by_above_ && !above_counts_) {
    const SlotName name = weigh_name(above_);
    by_above_ = above_counts_ = name.memory && name.clock == SlotName::Clock::none;
  }
  while (at_ < line_.size()) {
    const char c = line_[at_];
    if (is_digit(c)) {
      if (!stamp()) number();
    } else if (is_letter(c)) {
      if (!starts_token() || !stamp()) word();
    } else {
      if (ends_phrase(c)) fresh_start();
      ++at_;
    }
  }
  above_ = before_ != kSeed ? names_next_line(line_, row.cells.empty()) : std::string_view();
  sections_.see(line_, figures_);
  return !row.cells.empty() || row.has_time;
}

}  // namespace

std::unique_ptr<LogLayout> line_layout(const NumberStyle& style,
                                       std::unordered_set<uint64_t> distinct) {
  return std::make_unique<LineLayout>(style, std::move(distinct));
}

}  // namespace plateau
