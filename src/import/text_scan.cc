// SPDX-License-Identifier: Apache-2.0
#include "import/text_scan.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/text.h"
#include "import/text_number.h"

namespace plateau {
namespace {

constexpr size_t kMaxConsidered = 64u << 10;
constexpr double kMaxStep = 9e15;
constexpr size_t kPadding = 32;

constexpr WordBits kClaimsStep = kWordStep | kWordIteration | kWordBatch;
// Words that wait for a figure; the rest only count for the line as a whole.
constexpr WordBits kWaits =
    kWordMemoryKey | kWordCpu | kWordSystem | kWordNotUsage | kWordOther | kWordEta | kWordTensors;

constexpr WordBits kPlaces = kWordSystem | kWordGpu | kWordCpu;

enum Class : uint8_t { other, digit, letter, separator, round_open, round_close, less };

constexpr std::array<uint8_t, 256> make_classes() {
  std::array<uint8_t, 256> classes{};
  for (int c = '0'; c <= '9'; ++c) classes[static_cast<size_t>(c)] = digit;
  for (int c = 'a'; c <= 'z'; ++c) {
    classes[static_cast<size_t>(c)] = letter;
    classes[static_cast<size_t>(c - 'a' + 'A')] = letter;
  }
  for (const char c : {',', ';', '|'}) classes[static_cast<size_t>(c)] = separator;
  classes['('] = round_open;
  classes[')'] = round_close;
  classes['<'] = less;
  return classes;
}
constexpr std::array<uint8_t, 256> kClasses = make_classes();

class Scanner {
 public:
  Scanner(std::string_view line, ScannedLine& out) : line_(line), out_(out) {}

  void run() {
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
        default:
          ++at_;
          break;
      }
    }
  }

 private:
  // Both may look past the line's ends, into the padding; never further than kPadding.
  [[nodiscard]] char before(size_t back) const { return line_.data()[at_ - back]; }
  [[nodiscard]] char char_at(size_t at) const { return line_.data()[at]; }

  void fresh_start() {
    seg_ = 0;
    seg_unit_ = 0;
    key_begin_ = key_end_ = 0;
  }

  void arrow() {
    if (char_at(at_ + 1) == '-' && !out_.arrow) {
      out_.arrow = true;
      out_.note = at_ + 2;
    }
    ++at_;
  }

  void word() {
    const auto [bits, end] = read_word(line_, at_);
    // "gpu-node1 trainer: memory 5 GB": a place counts only next to the word for memory.
    if ((bits & (kWordMemory | kWordUsed)) != 0 && (last_word_ & kWaits) == 0) seg_ &= ~kPlaces;
    last_word_ = bits;
    last_word_end_ = end;
    plain_before_number_ = plain_before_number_ && (bits & kWordLevel) != 0;
    if (bits != 0) note_word(bits, line_.substr(at_, end - at_), end);
    at_ = end;
  }

  void note_word(WordBits bits, std::string_view text, size_t end) {
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
      out_.tensors = spare_count_;
      out_.tensor_places[0] = spare_place_;
    }
  }

  // What stands right before the number's first digit.
  enum class Lead : uint8_t { plain, plus, minus, glued, range };
  [[nodiscard]] Lead lead() const {
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
  [[nodiscard]] bool follows_word() const {
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

  // "13:18:25", dates, and "[12:01<24:10" of a progress bar. True if it took the digits. The time
  // is only read in full when the line turns out to be a sample; most lines are not.
  bool clock() {
    const char second = char_at(at_ + 1);
    const char third = char_at(at_ + 2);
    const char fifth = char_at(at_ + 4);
    const bool time_like = second == ':' || third == ':';
    if (!time_like && fifth != '-' && fifth != '/') return false;
    if (time_like && before(1) == '[' && bar_clock()) return true;
    const size_t shape = time_like ? clock_shape(at_) : date_shape();
    if (shape > 0) {
      if (!out_.has_time && (seg_ & kWordEta) == 0 && char_at(at_ + shape) != '<') {
        out_.has_time = true;
        out_.time_place = static_cast<Place>(at_);
        plain_before_number_ = true;
      }
      at_ += shape;
      return true;
    }
    const size_t colon = second == ':' ? at_ + 1 : at_ + 2;
    if (!time_like || !is_digit(char_at(colon + 1))) return false;
    while (is_digit(char_at(at_)) || char_at(at_) == ':' || char_at(at_) == '.') ++at_;
    return true;
  }

  // The length of "13:18:25.250" at `at`; 0 if it is something else.
  [[nodiscard]] size_t clock_shape(size_t at) const {
    const size_t from = at;
    at += char_at(at + 1) == ':' ? 1 : 2;
    if (char_at(at) != ':' || !is_digit(char_at(at + 1)) || !is_digit(char_at(at + 2)) ||
        char_at(at + 3) != ':' || !is_digit(char_at(at + 4)) || !is_digit(char_at(at + 5)) ||
        is_digit(char_at(at + 6))) {
      return 0;
    }
    at += 6;
    if ((char_at(at) == '.' || char_at(at) == ',') && is_digit(char_at(at + 1))) {
      for (++at; is_digit(char_at(at));) ++at;
    }
    return at - from;
  }

  // The length of "2025-10-20 13:18:25" at at_.
  [[nodiscard]] size_t date_shape() const {
    if (at_ + 19 > line_.size() || !is_digit(line_[at_ + 5]) || !is_digit(line_[at_ + 8]) ||
        line_[at_ + 7] != line_[at_ + 4] || !is_digit(line_[at_ + 11])) {
      return 0;
    }
    const size_t clock = clock_shape(at_ + 11);
    return clock > 0 ? 11 + clock : 0;
  }

 public:
  // Reads the time that clock() found; forgets it if it is none after all.
  void settle_time() {
    if (out_.time_place == kNoPlace) return;
    const auto stamp = parse_stamp(line_.substr(out_.time_place, 40));
    out_.has_time = stamp.has_value();
    out_.by_shape = out_.by_shape && stamp.has_value();
    if (stamp) out_.time = *stamp;
  }

 private:
  // Elapsed and remaining time of a progress bar.
  bool bar_clock() {
    double seconds = 0;
    double part = 0;
    size_t at = at_;
    for (; is_digit(char_at(at)) || char_at(at) == ':'; ++at) {
      if (char_at(at) == ':') {
        seconds = (seconds + part) * 60;
        part = 0;
      } else {
        part = part * 10 + (char_at(at) - '0');
      }
    }
    if (char_at(at) != '<') return false;
    out_.by_shape = false;
    if (!out_.has_time && seconds + part < 1e8) {
      out_.has_time = true;
      out_.time = {Stamp::Kind::elapsed, seconds + part, 0};
    }
    while (at < line_.size() && line_[at] != ',' && line_[at] != ']') ++at;
    at_ = at;
    return true;
  }

  void number() {
    const Lead lead = this->lead();
    if (lead == Lead::plain && clock()) return;
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
  [[nodiscard]] bool glued_to_key() const {
    return last_word_end_ == at_ && (last_word_ & (kWordRank | kWordStep)) != 0;
  }

  void skip_glued() {
    at_ = number_.end;
    while (at_ < line_.size() && (is_digit(line_[at_]) || line_[at_] == '.')) ++at_;
    plain_before_number_ = false;
  }

  // Looks for a unit of memory behind the number: unit_mb_ and unit_end_.
  bool read_unit() {
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
  void amount(Lead lead, size_t start) {
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
  [[nodiscard]] char before_start(size_t start) const {
    size_t at = start - 1;
    while (at > 0 && line_[at - 1] == ' ') --at;
    return at > 0 ? line_[at - 1] : '\0';
  }

  // "5.4 GB / 32 GB": remembers where the total starts, so that it is no figure.
  void mark_denominator() {
    size_t at = at_;
    while (char_at(at) == ' ') ++at;
    if (char_at(at) != '/') return;
    ++at;
    while (char_at(at) == ' ') ++at;
    if (is_digit(char_at(at))) denominator_end_ = at;
  }

  // The bits of the word that follows at most two spaces (and "of") on.
  [[nodiscard]] WordBits word_after(size_t at) const {
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

  void add_figure(double value, double unit_mb, WordBits after, size_t start) {
    if (out_.count >= ScannedLine::kMaxFigures) return;
    Figure& figure = out_.figures[out_.count];
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
  [[nodiscard]] bool is_prose(size_t start) const {
    size_t last = start;
    while (last > key_end_ && (line_[last - 1] == ' ' || line_[last - 1] == '~')) --last;
    if (last > key_end_ && (line_[last - 1] == ':' || line_[last - 1] == '=')) return false;
    const size_t from = (last_word_ & kWordUnit) != 0 ? last_word_end_ : key_end_;
    const auto letters =
        std::count_if(line_.begin() + static_cast<std::ptrdiff_t>(from),
                      line_.begin() + static_cast<std::ptrdiff_t>(start), is_letter);
    return letters > 4;
  }

  // "RAM: 5552", "rss = 5.4", "used (GB): 5": a colon or an equals sign and little else in between.
  [[nodiscard]] bool assigned(size_t start) const {
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
  [[nodiscard]] bool points_here(size_t start) const {
    size_t at = start;
    while (at > 0 && (line_[at - 1] == ' ' || line_[at - 1] == '~')) --at;
    const bool ascii = at >= 2 && line_[at - 1] == '>' && line_[at - 2] == '-';
    const bool wide = at >= 3 && line_.substr(at - 3, 3) == "\xe2\x86\x92";
    return ascii || wide;
  }

  // A number without a unit: a step, an epoch, a bar, a count, or memory whose key has the unit.
  void count(Lead lead, size_t start, bool claimed) {
    const char right = char_at(number_.end);
    if (right == '%') {
      fresh_start();
      at_ = number_.end + 1;
      return;
    }
    if (lead == Lead::minus || lead == Lead::plus) {
      out_.negative |= lead == Lead::minus && (seg_ & kWordMemoryKey) != 0 && seg_unit_ > 0 &&
                       (seg_ & kWordNotUsage) == 0;
      return;
    }
    if ((right == '-' && is_digit(char_at(number_.end + 1))) || right == '+') return;
    if (is_letter(right) && !(right == 's' && !is_letter(char_at(number_.end + 1)))) return;
    // Positions past this are told from nonsense by their size.
    if (number_.end - start > 9) out_.by_shape = false;
    const double total = ratio();
    if (total < 0) return;
    if (claimed && claim(total)) return;
    if (total > 0) out_.by_shape = false;
    if (memory_by_key(claimed)) return;
    if (tensor_count()) return;
    if (total > 0 && number_.whole && number_.value <= total) {
      bar(start, total);
    } else if (number_.whole && out_.has_time && plain_before_number_ && at_end()) {
      add_bare_rss();
    } else if (start_of_line(start) && !out_.has_time) {
      if (const auto seconds = epoch_seconds(number_.value)) set_time(Stamp::Kind::epoch, *seconds);
    }
    if (number_.whole) {
      spare_count_ = number_.value;
      spare_place_ = static_cast<Place>(start);
      spare_count_end_ = number_.end;
    }
  }

  // The Y of "X/Y", also "X / Y"; number_.end moves behind it. 0 if there is none, -1 if the pair
  // was a figure and its total.
  double ratio() {
    size_t at = number_.end;
    while (char_at(at) == ' ' && at - number_.end < 2) ++at;
    if (char_at(at) != '/') return 0;
    ++at;
    while (char_at(at) == ' ' && at - number_.end < 5) ++at;
    if (!is_digit(char_at(at))) return 0;
    const LineNumber total = read_number(line_, at);
    const char right = char_at(total.end);
    if (total.garbled || right == '/' || right == '.') return 0;
    if (is_letter(right) || right == ' ') {
      // "5.4/32.0 GB": both halves share the unit.
      const LineNumber part = number_;
      number_ = total;
      const bool has_unit = read_unit();
      number_ = part;
      if (has_unit && (seg_ & kWordMemoryKey) != 0) {
        add_figure(part.value, unit_mb_, 0, at_);
        fresh_start();
        number_.end = unit_end_;
        return -1;
      }
      if (is_letter(right)) return 0;
    }
    number_.end = total.end;
    total_place_ = static_cast<Place>(at);
    return total.whole ? total.value : 0;
  }

  // A number right behind a word that asks for one.
  bool claim(double total) {
    const bool whole = number_.whole && number_.value <= kMaxStep;
    if ((last_word_ & kWordPlural) != 0) return true;
    if ((last_word_ & kClaimsStep) != 0) {
      const StepWord kind = (last_word_ & kWordStep) != 0        ? StepWord::step
                            : (last_word_ & kWordIteration) != 0 ? StepWord::iteration
                                                                 : StepWord::batch;
      if (!whole || kind < out_.step_word) return true;
      if (kind == out_.step_word && out_.step >= 0) return true;
      out_.step_word = kind;
      out_.step = static_cast<int64_t>(number_.value);
      out_.step_place = static_cast<Place>(at_);
      out_.step_total = 0;
      out_.step_total_place = kNoPlace;
      if (total >= number_.value && total <= kMaxStep && total > 0) {
        out_.step_total = static_cast<int64_t>(total);
        out_.step_total_place = total_place_;
      } else if (total > 0) {
        out_.by_shape = false;
      }
      return true;
    }
    if ((last_word_ & kWordEpoch) != 0) {
      if (std::isnan(out_.epoch) && number_.value < 1e9) {
        out_.epoch = number_.value;
        out_.epoch_place = static_cast<Place>(at_);
        out_.whole_epoch = number_.whole;
      }
      return true;
    }
    if ((last_word_ & kWordRank) != 0 && whole) {
      if (out_.rank < 0) {
        out_.rank = static_cast<int64_t>(number_.value);
        out_.rank_place = static_cast<Place>(at_);
      }
      return true;
    }
    if ((last_word_ & kWordClock) != 0 && !out_.has_time) {
      const auto seconds = epoch_seconds(number_.value);
      set_time(seconds ? Stamp::Kind::epoch : Stamp::Kind::elapsed,
               seconds ? *seconds : number_.value);
      return true;
    }
    return false;
  }

  void set_time(Stamp::Kind kind, double seconds) {
    if (!std::isfinite(seconds)) return;
    out_.has_time = true;
    out_.by_shape = false;
    out_.time = {kind, seconds, 0};
    number_sets_time_ = true;
  }

  // "rss_mb=5552", "mem (MB): 5552"; without any unit only right behind a word for host memory.
  bool memory_by_key(bool claimed) {
    if ((seg_ & kWordMemoryKey) == 0 || tensors_open_) return false;
    const bool last_is_key = (last_word_ & (kWordMemory | kWordUsed | kWordHostMetric)) != 0;
    const bool last_is_unit = (last_word_ & kWordUnit) != 0;
    if (!claimed && !(last_is_unit && number_.end - last_word_end_ < 40 && unit_closes())) {
      return false;
    }
    if (!(last_is_unit && seg_unit_ > 0) && !last_is_key) return false;
    if (last_is_key && (seg_ & kWordTensors) != 0) return false;
    add_figure(number_.value, last_is_unit ? seg_unit_ : 0, 0, at_);
    fresh_start();
    return true;
  }

  // "(MB): " or "[MiB] = " between the unit and the number.
  [[nodiscard]] bool unit_closes() const {
    for (size_t i = last_word_end_; i < at_; ++i) {
      const char c = line_[i];
      if (c != ' ' && c != ':' && c != '=' && c != ')' && c != ']' && c != '\'' && c != '"') {
        return false;
      }
    }
    return true;
  }

  bool tensor_count() {
    if (!tensors_open_ && (seg_ & kWordTensors) == 0) return false;
    if (!number_.whole) return false;
    const size_t which = (last_word_ & kWordCpu) != 0 ? 1 : (last_word_ & kWordGpu) != 0 ? 2 : 0;
    double& slot = which == 1 ? out_.tensors_cpu : which == 2 ? out_.tensors_gpu : out_.tensors;
    if (std::isnan(slot)) {
      slot = number_.value;
      out_.tensor_places[which] = static_cast<Place>(at_);
    }
    return true;
  }

  void bar(size_t start, double total) {
    out_.by_shape = false;
    if (out_.bar_at >= 0 || total > kMaxStep || total < 2) return;
    out_.bar_at = static_cast<int64_t>(number_.value);
    out_.bar_total = static_cast<int64_t>(total);
    // "Epoch(train) [1][50/663]": the bracket before the bar is the epoch.
    if (std::isnan(out_.epoch) && (out_.words & kWordEpoch) != 0 && start >= 2 &&
        line_[start - 1] == '[' && line_[start - 2] == ']' && spare_count_end_ == start - 2) {
      out_.epoch = spare_count_;
      out_.whole_epoch = true;
    }
  }

  [[nodiscard]] bool at_end() const {
    return std::all_of(line_.begin() + static_cast<std::ptrdiff_t>(number_.end), line_.end(),
                       [](char c) { return is_space(c); });
  }
  [[nodiscard]] bool start_of_line(size_t start) const {
    return start <= 2 &&
           std::all_of(line_.begin(), line_.begin() + static_cast<std::ptrdiff_t>(start),
                       [](char c) { return c == ' ' || c == '['; });
  }

  void add_bare_rss() {
    out_.by_shape = false;
    if (out_.count > 0 || number_.value < 100) return;
    Figure& figure = out_.figures[out_.count++];
    figure = {};
    figure.value = number_.value;
    figure.unit_mb = 1024.0 / 1e6;
    figure.bare_rss = true;
    figure.after_time = true;
  }

  std::string_view line_;
  ScannedLine& out_;
  size_t at_ = 0;
  int depth_ = 0;
  bool tensors_open_ = false;

  WordBits seg_ = 0;     // Words that wait for a figure.
  double seg_unit_ = 0;  // A unit named among them.
  uint32_t key_begin_ = 0;
  uint32_t key_end_ = 0;
  WordBits last_word_ = 0;
  size_t last_word_end_ = 0;

  bool plain_before_number_ = false;  // Since the time, nothing but log levels.
  bool number_sets_time_ = false;
  double spare_count_ = 0;  // The last whole number nobody claimed: "6529" of "6529 tensors".
  size_t spare_count_end_ = 0;
  size_t denominator_end_ = 0;
  Place spare_place_ = kNoPlace;

  LineNumber number_;
  Place total_place_ = kNoPlace;
  double unit_mb_ = 0;
  size_t unit_end_ = 0;
};

}  // namespace

std::string_view pad_line(std::string_view line, ScannedLine& out) {
  line = line.substr(0, kMaxConsidered);
  if (out.padded.size() < line.size() + 2 * kPadding) {
    out.padded.resize(2 * line.size() + 2 * kPadding, '\0');
  }
  char* copy = out.padded.data() + kPadding;
  if (!line.empty()) std::memcpy(copy, line.data(), line.size());
  std::memset(copy + line.size(), 0, kPadding);
  return {copy, line.size()};
}

void scan_line(std::string_view line, ScannedLine& out) {
  out.step_word = StepWord::none;
  out.step = -1;
  out.step_total = 0;
  out.bar_at = -1;
  out.bar_total = 0;
  out.epoch = kMissing;
  out.whole_epoch = false;
  out.has_time = false;
  out.rank = -1;
  out.tensors = out.tensors_cpu = out.tensors_gpu = kMissing;
  out.words = out.free_words = 0;
  out.negative = false;
  out.arrow = false;
  out.count = 0;
  out.step_place = out.step_total_place = out.epoch_place = out.rank_place = kNoPlace;
  out.tensor_places.fill(kNoPlace);
  out.time_place = kNoPlace;
  out.by_shape = true;
  Scanner scanner(pad_line(line, out), out);
  scanner.run();
  if (out.count > 0 || out.negative) scanner.settle_time();
}

}  // namespace plateau
