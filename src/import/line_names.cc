// SPDX-License-Identifier: Apache-2.0
// Which words of a line name which of its numbers; see the head of cells.h.
#include <algorithm>
#include <string>

#include "base/text.h"
#include "import/line_context.h"
#include "import/line_layout.h"
#include "import/slot_name.h"

namespace plateau {
namespace {

constexpr size_t kPostfixWords = 3;

}  // namespace

uint64_t hash_of_words(std::string_view line) {
  uint64_t hash = kWordSeed;
  for (const char c : line) {
    if (is_letter(c)) hash = mix_words(hash, static_cast<unsigned char>(ascii_lower(c)));
  }
  return hash;
}

// "(60 MB heap size)", "512 MB of memory used": named by what follows, up to the next number.
bool LineLayout::postfix(const Numeral& number, uint64_t& key, size_t& begin, size_t& end) const {
  WordBits bits = 0;
  key = kWordSeed;
  const size_t twin =
      same_in_brackets(line_, read_numeral(line_, number.begin, style_), style_).end;
  begin = end = behind_capacity(line_, std::max(number.unit_end, twin), style_);
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
    const NameWord found = read(at);
    if (words++ == 0) begin = at;
    key = mix_words(key, found.hash);
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
  return count_ > 0 && subject_.end > 0 && has_only_how();
}

bool LineLayout::has_only_how() const {
  return std::all_of(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(count_),
                     [](const NameWord& word) {
                       constexpr WordBits kHow = kWordUsed | kWordNotUsage;
                       return (word.bits & kHow) != 0 && (word.bits & ~(kHow | kWordContext)) == 0;
                     });
}

// The phrase from `begin` to `end` says how much is used or free of what was named before it.
void LineLayout::name_by_subject(uint64_t& key, size_t begin, size_t end) {
  for (size_t i = 0; i < count_; ++i) key = mix_words(key, words_[i].hash);
  key = mix_words(key, subject_.hash);
  name_.assign(line_.substr(subject_.begin, subject_.end - subject_.begin));
  name_ += ' ';
  name_ += line_.substr(begin, end - begin);
}

// Gives the cell its column; see the head of cells.h.
void LineLayout::name_cell(LogCell& cell) {
  const Numeral& number = cell.number;
  const auto all = words_.begin() + static_cast<std::ptrdiff_t>(count_);
  const auto memory = std::find_if(
      words_.begin(), all, [](const NameWord& word) { return (word.bits & kWordMemoryKey) != 0; });
  auto from = static_cast<size_t>(memory - words_.begin());
  // "JSHeapUsedSize": one name, whose words nothing parts.
  while (from > 0 && from < count_ && words_[from - 1].end == words_[from].begin) --from;
  uint64_t key = kWordSeed;
  size_t begin = 0;
  size_t end = 0;
  if (by_above_) {
    cell.column = columns_.of(mix_words(hash_of_words(above_), 5), above_);
    return;
  }
  if (says_only_how()) {
    name_by_subject(key, words_[0].begin, words_[count_ - 1].end);
    cell.column = columns_.of(mix_words(mix_words(key, 4), ordinal_), name_);
    return;
  }
  if (from < count_) {
    for (size_t i = 0; i < from; ++i) {
      cell.variant = mix_words(cell.variant, words_[i].hash);
      if ((words_[i].bits & (kWordNotUsage | kWordSystem | kWordCpu)) != 0)
        key = mix_words(key, words_[i].hash);
    }
    for (size_t i = from; i < count_; ++i) key = mix_words(key, words_[i].hash);
    begin = words_[0].begin;
    for (size_t i = 0; i < from; ++i) {
      if ((words_[i].bits & (kWordNotUsage | kWordSystem | kWordCpu)) != 0) break;
      begin = words_[i + 1].begin;
    }
    end = words_[count_ - 1].end;
  } else if (ordinal_ == 0 && !number.glued &&
             (count_ == 0 || number.unit == Numeral::Unit::memory) &&
             postfix(number, key, begin, end)) {
    key = mix_words(key, 1);
  } else if (number.unit == Numeral::Unit::memory && arrow_follows(line_, number)) {
    // Whatever the line is about: collectors write "Pause Young 80M->8M" and "Remark 39M->39M".
    // A line may hold several such pairs: those of the young generation, then those of all.
    cell.column = columns_.of(chain_key(number), "");
    return;
  } else if (count_ > 0) {
    for (size_t i = 0; i < count_; ++i) key = mix_words(key, words_[i].hash);
    begin = words_[0].begin;
    end = words_[count_ - 1].end;
  } else {
    key = mix_words(mix_words(before_, 2), nameless_++);
    begin = end = 0;
  }
  if (count_ > 0) key = mix_words(key, 16 + ordinal_);
  // "Processor Pool Total: 1992 Used: 441": whose, said at the first of them.
  if (first_phrase_ == 0) {
    first_phrase_ = before_;
  } else if (count_ > 0 && has_only_how()) {
    cell.variant = mix_words(cell.variant, first_phrase_);
  }
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
    if (before > 0) cell.variant = mix_words(cell.variant, static_cast<uint64_t>(before));
    if (distinct_.contains(key)) cell.ordinal += static_cast<size_t>(before);
    keys_.push_back(key);
  }
  if (!section.empty() && (!frozen_ || distinct_.contains(key))) {
    cell.variant = mix_words(cell.variant, hash_of_words(section));
  }
  if (distinct_.contains(key)) {
    cell.family = key;
    begin = count_ > 0 ? words_[0].begin : begin;
    key = mix_words(key, cell.variant);
    section_counts_ = section_counts_ || !section.empty();
  }
  name_.assign(cell.family != 0 ? section : std::string_view());
  if (!name_.empty()) name_ += ' ';
  name_ += name_between(begin, end);
  if (const std::string_view free = free_behind_pair(line_, cell.number); !free.empty()) {
    name_ += ' ';
    name_ += free;
    key = mix_words(key, 7);
  } else if (const size_t said = end_of_free_behind(line_, cell.number); said > 0) {
    name_ += " free";
    key = mix_words(key, 7);
    at_ = last_end_ = said;  // What follows may be the capacity.
  }
  if (is_cumulative(line_, cell.number)) {
    name_ += " cumulative";
    key = mix_words(key, 9);
  }
  cell.column = columns_.of(key, name_);
}

// The words from `begin` to `end`; of names with numbers only their own and the word for memory.
std::string LineLayout::name_between(size_t begin, size_t end) const {
  const bool apart = lead_.end > 0 && count_ > 1 && words_[0].begin == lead_.begin &&
                     words_[1].begin > numbered_.begin && begin == lead_.begin;
  if (!apart) return std::string(line_.substr(begin, end - begin));
  std::string name(line_.substr(lead_.begin, lead_.end - lead_.begin));
  name += ' ';
  name += line_.substr(words_[1].begin, end - words_[1].begin);
  return name;
}

// "[PSYoungGen: 937984K->678408K] [ParOldGen: 2342580K->2342579K] 3280564K->3020988K": pairs right
// behind a name of their own are that one's; the others are told apart by their order.
uint64_t LineLayout::chain_key(const Numeral& number) {
  const std::string_view before = trim(line_.substr(0, number.begin));
  const bool named = count_ > 0 && before.ends_with(':') &&
                     words_[count_ - 1].end + 1 == before.size() + (before.data() - line_.data());
  if (named) return mix_words(mix_words(kWordSeed, 6), words_[count_ - 1].hash);
  return mix_words(mix_words(kWordSeed, 3), chains_++);
}

// "mem: w0=199M w1=318M": takes the number as a part of the name, and lets each have the word for
// memory that stands before the first. False if it is no such number.
bool LineLayout::numbered_name() {
  if (count_ == 0 || words_[count_ - 1].end != at_) return false;
  NameWord& last = words_[count_ - 1];
  size_t end = at_;
  while (end < line_.size() && is_digit(line_[end])) ++end;
  const bool another = numbered_.end > 0 && numbered_.hash == last.hash;
  if (!(another ? an_amount_follows(line_, end) : numbers_a_name(line_, last.begin, end))) {
    return false;
  }
  by_value_ = true;
  if (another) {
    if (lead_.end > 0 && count_ < words_.size()) words_[count_++] = lead_;
    std::rotate(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(count_ - 1),
                words_.begin() + static_cast<std::ptrdiff_t>(count_));
  } else {
    numbered_ = last;
    lead_ = {};
    for (size_t i = 0; i + 1 < count_; ++i) {
      if ((words_[i].bits & kWordSubject) != 0) lead_ = words_[i];
    }
  }
  NameWord& name = words_[count_ - 1];
  for (; at_ < end; ++at_) name.hash = mix_words(name.hash, static_cast<unsigned char>(line_[at_]));
  name.end = end;
  return true;
}

// "RSS(MB) 0:3098 1:3110": each number before a colon is whose the amount behind it is. False if it
// is no such number, or if nothing before it means memory.
bool LineLayout::place() {
  NameWord lead = lead_;
  for (size_t i = 0; i < count_ && lead.end == 0; ++i) {
    if ((words_[i].bits & kWordSubject) != 0) lead = words_[i];
  }
  size_t end = at_;
  while (end < line_.size() && is_digit(line_[end])) ++end;
  if (lead.end == 0 || !an_amount_follows(line_, end)) return false;
  by_value_ = true;
  end = end_of_place(line_, at_);
  if (end == 0) return false;
  if (ordinal_ > 0) fresh_start();
  if (lead_.end == 0) numbered_ = {kWordSeed, at_, end, 0};
  lead_ = lead;
  NameWord name = {kWordSeed, at_, end, 0};
  for (; at_ < end; ++at_) name.hash = mix_words(name.hash, static_cast<unsigned char>(line_[at_]));
  words_[0] = lead_;
  words_[1] = name;
  count_ = 2;
  return true;
}

}  // namespace plateau
