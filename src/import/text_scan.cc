// SPDX-License-Identifier: Apache-2.0
#include "import/text_scan.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/text.h"
#include "import/text_number.h"
#include "import/text_scanner.h"

namespace plateau {
namespace {

constexpr size_t kMaxConsidered = 64u << 10;

// Words that wait for a figure; the rest only count for the line as a whole.
constexpr WordBits kWaits =
    kWordMemoryKey | kWordCpu | kWordSystem | kWordNotUsage | kWordOther | kWordEta | kWordTensors;

constexpr size_t kLongestPlace = 120;  // "[utils.py:783:see_memory_usage]"

constexpr WordBits kPlaces = kWordSystem | kWordGpu | kWordCpu;

enum Class : uint8_t { other, digit, letter, separator, round_open, round_close, less, close };

constexpr std::array<uint8_t, 256> make_classes() {
  std::array<uint8_t, 256> classes{};
  for (size_t c = 0; c < classes.size(); ++c) {
    if (is_digit(static_cast<char>(c))) classes[c] = digit;
    if (is_letter(static_cast<char>(c))) classes[c] = letter;
  }
  for (const unsigned char c : {',', ';', '|'}) classes[c] = separator;
  classes['('] = round_open;
  classes[')'] = round_close;
  classes['<'] = less;
  classes[']'] = close;
  return classes;
}
constexpr std::array<uint8_t, 256> kClasses = make_classes();

}  // namespace

void Scanner::run() {
  while (at_ < line_.size()) {
    switch (kClasses[static_cast<unsigned char>(line_[at_])]) {
      case digit:
        number();
        break;
      case letter:
        word();
        break;
      case separator:
        fresh_start();
        ++at_;
        break;
      case round_open:
        ++depth_;
        tensors_open_ |= (seg_ & kWordTensors) != 0;
        ++at_;
        break;
      case round_close:
        depth_ -= depth_ > 0 ? 1 : 0;
        tensors_open_ = false;
        ++at_;
        break;
      case less:
        arrow();
        break;
      case close:
        if (closes_a_place()) fresh_start();
        ++at_;
        break;
      default:
        ++at_;
        break;
    }
  }
}

void Scanner::fresh_start() {
  seg_ = 0;
  seg_unit_ = 0;
  key_begin_ = key_end_ = 0;
}

// A place in a program, "[file:line:function]", names nothing; "[RSS]" does.
bool Scanner::closes_a_place() const {
  const size_t from = at_ > kLongestPlace ? at_ - kLongestPlace : 0;
  const std::string_view before = line_.substr(from, at_ - from);
  const size_t open = before.rfind('[');
  return open != std::string_view::npos && before.find(':', open) != std::string_view::npos;
}

void Scanner::arrow() {
  if (char_at(at_ + 1) == '-' && !out_.arrow) {
    out_.arrow = true;
    out_.note = at_ + 2;
  }
  ++at_;
}

void Scanner::word() {
  const auto [bits, end] = read_word(line_, at_);
  // "gpu-node1 trainer: memory 5 GB": a place counts only next to the word for memory.
  if ((bits & (kWordMemory | kWordUsed)) != 0 && (last_word_ & kWaits) == 0) seg_ &= ~kPlaces;
  last_word_ = bits;
  last_word_end_ = end;
  plain_before_number_ = plain_before_number_ && (bits & kWordLevel) != 0;
  if (bits != 0) note_word(bits, line_.substr(at_, end - at_), end);
  at_ = end;
}

void Scanner::note_word(WordBits bits, std::string_view text, size_t end) {
  out_.words |= bits;
  const char left = before(1);
  const char right = char_at(end);
  const bool joined = left == '_' || left == '.' || left == '/' || left == '-' || left == '\'' ||
                      right == '_' || right == '.' || right == '=' || right == '/' ||
                      right == '-' || right == '\'';
  if (!joined) out_.free_words |= bits;
  seg_ |= bits & kWaits;
  if ((bits & kWordMemoryKey) != 0) {
    if (key_end_ == 0) key_begin_ = static_cast<uint32_t>(at_);
    key_end_ = static_cast<uint32_t>(end);
  }
  if ((bits & kWordUnit) != 0) seg_unit_ = unit_of_word(text);
  if ((bits & kWordTensors) != 0 && spare_count_end_ != 0 && at_ - spare_count_end_ <= 2) {
    out_.tensors[0] = spare_count_;
    out_.tensor_places[0] = spare_place_;
  }
}

Scanner::Lead Scanner::lead() const {
  const char left = before(1);
  if (left == ' ' || left == '=' || left == ':' || left == '(') return Lead::plain;
  if (left == '+') return Lead::plus;
  if (left == '-') {
    const char further = before(2);
    if (is_digit(further)) return Lead::range;
    return is_letter(further) || further == '_' ? Lead::glued : Lead::minus;
  }
  // U+2212 and U+00B1 in UTF-8.
  if (left == '\x92' && before(2) == '\x88' && before(3) == '\xe2') return Lead::minus;
  if (left == '\xb1' && before(2) == '\xc2') return Lead::plus;
  if (is_letter(left) || left == '_' || left == '.') return Lead::glued;
  return Lead::plain;
}

// Only "=", ":", "#", quotes, brackets and spaces between the last word and the number.
bool Scanner::follows_word() const {
  if (last_word_end_ == 0 || at_ - last_word_end_ > 8) return false;
  for (size_t i = last_word_end_; i < at_; ++i) {
    const char c = line_[i];
    if (c != ' ' && c != ':' && c != '=' && c != '#' && c != '\'' && c != '"' && c != '[' &&
        c != '(' && c != '_' && c != '\t' && c != '>' && c != '*') {
      return false;
    }
  }
  return true;
}

// The digits within a hash or a name, "a81f03", say nothing, and such tokens have many.
bool Scanner::skip_within_name() {
  if (glued_to_key() || before(1) == '_') return false;
  size_t end = at_;
  while (is_digit(char_at(end)) || char_at(end) == '.') ++end;
  if (char_at(end) == ',' || char_at(end) == '\'') return false;
  at_ = end;
  plain_before_number_ = false;
  return true;
}

void Scanner::number() {
  const Lead lead = this->lead();
  if (lead == Lead::plain && clock()) return;
  if (lead == Lead::glued && skip_within_name()) return;
  number_ = read_number(line_, at_);
  const size_t start = at_;
  const bool claimed = follows_word();
  const bool joined_key = before(1) == '_' && claimed;
  if (number_.garbled || lead == Lead::range ||
      (lead == Lead::glued && !glued_to_key() && !joined_key)) {
    skip_glued();
    return;
  }
  if (read_unit() && lead != Lead::glued) {
    amount(lead, start);
  } else {
    count(lead, start, claimed);
  }
  plain_before_number_ = number_sets_time_;
  number_sets_time_ = false;
  at_ = std::max(at_, number_.end);
}

// "rank0", "step10": a key without a separator.
bool Scanner::glued_to_key() const {
  return last_word_end_ == at_ && (last_word_ & (kWordRank | kWordStep)) != 0;
}

void Scanner::skip_glued() {
  at_ = number_.end;
  while (at_ < line_.size() && (is_digit(line_[at_]) || line_[at_] == '.')) ++at_;
  plain_before_number_ = false;
}

// Looks for a unit of memory behind the number: unit_mb_ and unit_end_.
bool Scanner::read_unit() {
  unit_mb_ = 0;
  size_t at = number_.end;
  size_t gap = 0;
  while (gap < 2 && char_at(at) == ' ') ++at, ++gap;
  if (!is_letter(char_at(at))) return false;
  const size_t end = word_end(line_, at);
  const std::string_view word = line_.substr(at, end - at);
  unit_mb_ = unit_of_word(word);
  if (unit_mb_ == 0 || is_letter(char_at(end)) || is_digit(char_at(end))) return false;
  // A lone letter is a unit only right behind a number under a key: "mem: 12.1G", not "7B".
  if (word.size() == 1 && (gap > 0 || (seg_ & kWordMemoryKey) == 0)) return false;
  unit_end_ = end;
  return true;
}

// A number with a unit.
void Scanner::amount(Lead lead, size_t start) {
  const bool over = denominator_end_ != 0 && start == denominator_end_;
  at_ = unit_end_;
  const bool rate = char_at(at_) == '/' && is_letter(char_at(at_ + 1));
  WordBits after = word_after(unit_end_);
  const bool change = lead == Lead::plus || lead == Lead::minus;
  if (lead == Lead::minus && (seg_ & kWordMemoryKey) != 0 && (seg_ & kWordNotUsage) == 0 &&
      depth_ == 0 && (before_start(start) == '=' || before_start(start) == ':')) {
    out_.negative = true;
  }
  mark_denominator();
  if (!rate && !change && !over && (after & kWordPer) == 0) {
    add_figure(number_.value, unit_mb_, after, start);
  }
  fresh_start();
}

// The character before the sign, spaces aside.
char Scanner::before_start(size_t start) const {
  size_t at = start - 1;
  while (at > 0 && line_[at - 1] == ' ') --at;
  return at > 0 ? line_[at - 1] : '\0';
}

// "5.4 GB / 32 GB": remembers where the total starts, so that it is no figure.
void Scanner::mark_denominator() {
  size_t at = at_;
  while (char_at(at) == ' ') ++at;
  if (char_at(at) != '/') return;
  ++at;
  while (char_at(at) == ' ') ++at;
  if (is_digit(char_at(at))) denominator_end_ = at;
}

// The bits of the word that follows at most two spaces (and "of") on.
WordBits Scanner::word_after(size_t at) const {
  for (int tries = 0; tries < 2; ++tries) {
    size_t gap = 0;
    while (gap < 2 && char_at(at) == ' ') ++at, ++gap;
    if (gap == 0 || !is_letter(char_at(at))) return 0;
    const size_t end = word_end(line_, at);
    const char next = char_at(end);
    // A word with a value of its own is the next key: "swap=0MB vms=30GB".
    if (next == '=' || next == ':' || next == '_') return 0;
    if (next == ' ' && is_digit(char_at(end + 1))) return 0;
    if (line_.substr(at, end - at) != "of") return word_bits(line_.substr(at, end - at));
    at = end;
  }
  return 0;
}

void Scanner::add_figure(double value, double unit_mb, WordBits after, size_t start) {
  if (out_.count >= ScannedLine::kMaxFigures) return;
  LineFigure& figure = out_.figures[out_.count];
  figure = {};
  figure.bits = seg_;
  if ((seg_ & kWordMemoryKey) == 0) figure.bits |= after & kWaits;
  if ((after & kWordNotUsage) != 0) figure.bits |= kWordNotUsage;
  figure.keyed = (figure.bits & (kWordMemoryKey | kWordCpu)) != 0;
  if (key_end_ > 0 && is_prose(start)) return;
  if (depth_ > 0 && !figure.keyed) return;
  figure.value = value;
  figure.place = static_cast<Place>(start);
  figure.unit_mb = unit_mb;
  figure.key_begin = key_begin_;
  figure.key_end = key_end_;
  figure.after_time = plain_before_number_ && out_.has_time;
  figure.assigned = figure.keyed && assigned(start);
  // "732 MB -> 1027 MB": the later one is the state, the earlier one the past.
  if (out_.count > 0 && points_here(start)) --out_.count;
  out_.figures[out_.count] = figure;
  ++out_.count;
}

// "memory stays at ~17 GB": words between the key and the number make it a sentence, unless a
// colon or an equals sign leads to the number; "is", "now" and "at" are let through.
bool Scanner::is_prose(size_t start) const {
  size_t last = start;
  while (last > key_end_ && (line_[last - 1] == ' ' || line_[last - 1] == '~')) --last;
  if (last > key_end_ && (line_[last - 1] == ':' || line_[last - 1] == '=')) return false;
  const size_t from = (last_word_ & kWordUnit) != 0 ? last_word_end_ : key_end_;
  const auto letters = std::count_if(line_.begin() + static_cast<std::ptrdiff_t>(from),
                                     line_.begin() + static_cast<std::ptrdiff_t>(start), is_letter);
  return letters > 4;
}

// "RAM: 5552", "rss = 5.4", "used (GB): 5": a colon or an equals sign and little else in between.
bool Scanner::assigned(size_t start) const {
  const size_t from =
      std::max<size_t>(key_end_, (last_word_ & kWordUnit) != 0 ? last_word_end_ : 0);
  bool sign = false;
  for (size_t i = from; i < start; ++i) {
    const char c = line_[i];
    sign |= c == ':' || c == '=';
    if (is_letter(c) || is_digit(c) || c == ',') return false;
  }
  return sign && key_end_ > 0 && start - from < 12;
}

// Only an arrow and spaces between the last figure and `start`.
bool Scanner::points_here(size_t start) const {
  size_t at = start;
  while (at > 0 && (line_[at - 1] == ' ' || line_[at - 1] == '~')) --at;
  const bool ascii = at >= 2 && line_[at - 1] == '>' && line_[at - 2] == '-';
  const bool wide = at >= 3 && line_.substr(at - 3, 3) == "\xe2\x86\x92";
  return ascii || wide;
}

std::string_view pad_line(std::string_view line, ScannedLine& out) {
  line = line.substr(0, kMaxConsidered);
  if (out.padded.size() < line.size() + 2 * Scanner::kPadding) {
    out.padded.resize(2 * line.size() + 2 * Scanner::kPadding, '\0');
  }
  char* copy = out.padded.data() + Scanner::kPadding;
  if (!line.empty()) std::memcpy(copy, line.data(), line.size());
  std::memset(copy + line.size(), 0, Scanner::kPadding);
  return {copy, line.size()};
}

void scan_line(std::string_view line, ScannedLine& out) {
  static_cast<LineFacts&>(out) = {};
  Scanner scanner(pad_line(line, out), out);
  scanner.run();
  if (out.count > 0 || out.negative) scanner.settle_time();
}

}  // namespace plateau
