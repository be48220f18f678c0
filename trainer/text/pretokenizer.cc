// SPDX-License-Identifier: Apache-2.0
// The pattern's alternatives are tried in order, and the first that matches wins, however short:
//
//   1  (?i:'s|'t|'re|'ve|'m|'ll|'d)   an English contraction
//   2  [^\r\n\p{L}\p{N}]?\p{L}+       letters, with one character of any other sort before them
//   3  \p{N}                          one digit
//   4   ?[^\s\p{L}\p{N}]+[\r\n]*      punctuation, a space before it, line ends after it
//   5  \s*[\r\n]+                     white space up to the last line end in it
//   6  \s+(?!\S)                      white space without its last character if a word follows
//   7  \s+                            that last character
//
// Worked case: "x = 12;\n\n  y" gives "x", " =", " ", "1", "2", ";\n\n", " ", " y". The space
// before 12 stands alone because rule 2 wants a letter and rule 4 forbids a digit after it; of the
// two before y, rule 6 leaves the last to rule 2.
#include "trainer/text/pretokenizer.h"

#include "trainer/text/unicode.h"

namespace plateau::train {
namespace {

bool is_space_class(CharClass kind) {
  return kind == CharClass::space || kind == CharClass::newline;
}

// Lower case as the pattern's (?i:) folds it. The long s is an s.
char32_t folded(char32_t value) {
  if (value >= 'A' && value <= 'Z') return value - 'A' + 'a';
  return value == 0x17F ? U's' : value;
}

class Scanner {
 public:
  Scanner(std::string_view text, size_t begin) : text_(text), begin_(begin) {}

  size_t end() const {
    const ClassedChar first = char_at(text_, begin_);
    if (first.value == '\'') {
      if (const size_t end = contraction_end(); end != begin_) return end;
    }
    const size_t second = begin_ + first.bytes;
    if (first.kind == CharClass::letter) return run_end(second, CharClass::letter);
    if (first.kind == CharClass::number) return second;
    const bool has_second = second < text_.size();
    const CharClass next = has_second ? char_at(text_, second).kind : CharClass::newline;
    if (first.kind != CharClass::newline && next == CharClass::letter) {
      return run_end(second, CharClass::letter);
    }
    if (first.kind == CharClass::other || (first.value == ' ' && next == CharClass::other)) {
      return run_end(run_end(second, CharClass::other), CharClass::newline);
    }
    return white_space_end();
  }

 private:
  size_t run_end(size_t at, CharClass kind) const {
    while (at < text_.size()) {
      const ClassedChar c = char_at(text_, at);
      if (c.kind != kind) break;
      at += c.bytes;
    }
    return at;
  }

  // Rule 1; `begin_` if it does not match.
  size_t contraction_end() const {
    const size_t at = begin_ + 1;
    if (at >= text_.size()) return begin_;
    const ClassedChar one = char_at(text_, at);
    const char32_t a = folded(one.value);
    if (a == 's' || a == 't' || a == 'm' || a == 'd') return at + one.bytes;
    const size_t after = at + one.bytes;
    if (after >= text_.size()) return begin_;
    const ClassedChar two = char_at(text_, after);
    const char32_t b = folded(two.value);
    const bool is_pair = (a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l');
    return is_pair ? after + two.bytes : begin_;
  }

  // Rules 5 to 7. Requires: a space stands at `begin_`.
  size_t white_space_end() const {
    size_t at = begin_;
    size_t last = begin_;          // Begin of the last character of the run.
    size_t line_end_end = begin_;  // Behind the last line end in the run.
    while (at < text_.size()) {
      const ClassedChar c = char_at(text_, at);
      if (!is_space_class(c.kind)) break;
      last = at;
      at += c.bytes;
      if (c.kind == CharClass::newline) line_end_end = at;
    }
    if (line_end_end != begin_) return line_end_end;
    const bool is_followed = at < text_.size();
    return is_followed && last != begin_ ? last : at;
  }

  std::string_view text_;
  size_t begin_;
};

}  // namespace

size_t piece_end(std::string_view text, size_t begin) {
  return Scanner(text, begin).end();
}

}  // namespace plateau::train
