// SPDX-License-Identifier: Apache-2.0
// The layout `lines` of cells.h: free text, where words name the numbers near them. Inside this
// room only: line_cells.cc cuts a line, line_names.cc gives its numbers their names.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "import/cells.h"
#include "import/line_context.h"
#include "import/numeral.h"
#include "import/words.h"

namespace plateau {

inline constexpr size_t kMostWords = 12;  // Of a name; earlier ones are forgotten.
// What "used" and "free" later in the line are said of.
inline constexpr WordBits kWordSubject = kWordMemory | kWordRss | kWordPss | kWordUss;
// Of hashes of words.
inline constexpr uint64_t kWordSeed = 0xcbf29ce484222325ull;

inline uint64_t mix_words(uint64_t hash, uint64_t more) {
  hash ^= more;
  hash *= 0x100000001b3ull;
  return hash ^ (hash >> 29);
}

struct NameWord {
  uint64_t hash;
  size_t begin;
  size_t end;
  WordBits bits;
};

uint64_t hash_of_words(std::string_view line);

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
  void foreign_word(size_t end);
  void take_word(const NameWord& found);
  void number();
  void label(const NameWord& key);
  bool stamp();
  void fresh_start();
  [[nodiscard]] bool ends_phrase(char c) const;
  [[nodiscard]] bool names_what_follows() const;
  [[nodiscard]] bool says_only_how() const;
  [[nodiscard]] bool has_only_how() const;
  void name_by_subject(uint64_t& key, size_t begin, size_t end);
  [[nodiscard]] bool starts_token() const;
  [[nodiscard]] bool postfix(const Numeral& number, uint64_t& key, size_t& begin,
                             size_t& end) const;
  void name_cell(LogCell& cell);
  void place_cell(uint64_t key, size_t begin, size_t end, LogCell& cell);
  void share_unit(const Numeral& last);
  void skip_how();
  bool numbered_name();
  bool place();
  [[nodiscard]] std::string name_between(size_t begin, size_t end) const;
  [[nodiscard]] uint64_t chain_key(const Numeral& number);
  [[nodiscard]] NameWord read(size_t at) const;

  NumberStyle style_;
  std::unordered_set<uint64_t> distinct_;
  bool frozen_ = false;
  std::string_view line_;
  CellRow* row_ = nullptr;
  size_t at_ = 0;
  std::array<NameWord, kMostWords> words_{};
  size_t count_ = 0;     // Of words that wait for a number,
  size_t ordinal_ = 0;   // and the numbers that they have named already.
  uint64_t before_ = 0;  // All words of the line so far.
  size_t nameless_ = 0;  // Numbers since the last of them.
  uint32_t last_column_ = kNoColumn;
  size_t last_end_ = 0;         // Of the number before.
  size_t chains_ = 0;           // Without a name, so far in the line.
  NameWord subject_{};          // The last word for memory in a phrase that is over; empty: none.
  std::vector<uint64_t> keys_;  // Of the names met in this line, while they may matter.
  std::string name_;            // Of a column whose words stand apart.
  std::string above_;           // The line before, if it has words and no number,
  bool by_above_ = false;       // named the only number of this one,
  bool above_counts_ = false;   // or of any, and says memory.
  Sections sections_;
  std::string_view section_;     // Over this line; empty: none.
  bool figures_ = false;         // Stand in this line, wanted or not,
  bool cells_ = false;           // and so do cells.
  uint64_t first_phrase_ = 0;    // Words up to the first number that has a name.
  NameWord lead_{};              // The word for memory before the first of names with numbers,
  NameWord numbered_{};          // and the word that they share; empty: none in this line.
  bool by_value_ = false;        // Its digits decided something.
  bool section_counts_ = false;  // Tells columns of the same name apart.
};

}  // namespace plateau
