// SPDX-License-Identifier: Apache-2.0
// Numbers without a unit in a log line: steps, epochs, bars, tensor counts, and memory whose key
// names the unit.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "import/text_scanner.h"

namespace plateau {
namespace {

constexpr double kMaxStep = 9e15;  // Whole numbers are exact in a double up to here.
constexpr WordBits kClaimsStep = kWordStep | kWordIteration | kWordBatch;

}  // namespace

// A number without a unit: a step, an epoch, a bar, a count, or memory whose key has the unit.
void Scanner::count(Lead lead, size_t start, bool claimed) {
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
  } else if (number_.whole && out_.has_time && plain_before_number_ && at_end() &&
             char_at(start - 1) != ',') {
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
double Scanner::ratio() {
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
bool Scanner::claim(double total) {
  const bool whole = number_.whole && number_.value <= kMaxStep;
  if ((last_word_ & kWordPlural) != 0) return true;
  if ((last_word_ & kClaimsStep) != 0) return claim_step(total);
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

// "step 120/250": the best word of the line wins, and the first of its kind.
bool Scanner::claim_step(double total) {
  const StepWord kind = (last_word_ & kWordStep) != 0        ? StepWord::step
                        : (last_word_ & kWordIteration) != 0 ? StepWord::iteration
                                                             : StepWord::batch;
  const bool whole = number_.whole && number_.value <= kMaxStep;
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

// "rss_mb=5552", "mem (MB): 5552"; without any unit only right behind a word for host memory.
bool Scanner::memory_by_key(bool claimed) {
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
bool Scanner::unit_closes() const {
  for (size_t i = last_word_end_; i < at_; ++i) {
    const char c = line_[i];
    if (c != ' ' && c != ':' && c != '=' && c != ')' && c != ']' && c != '\'' && c != '"') {
      return false;
    }
  }
  return true;
}

bool Scanner::tensor_count() {
  if (!tensors_open_ && (seg_ & kWordTensors) == 0) return false;
  if (!number_.whole) return false;
  const size_t which = (last_word_ & kWordCpu) != 0 ? 1 : (last_word_ & kWordGpu) != 0 ? 2 : 0;
  if (std::isnan(out_.tensors[which])) {
    out_.tensors[which] = number_.value;
    out_.tensor_places[which] = static_cast<Place>(at_);
  }
  return true;
}

void Scanner::bar(size_t start, double total) {
  out_.by_shape = false;
  if (out_.bar_at >= 0 || total > kMaxStep || total < 2) return;
  out_.bar_at = static_cast<int64_t>(number_.value);
  out_.bar_total = static_cast<int64_t>(total);
  if (!std::isnan(out_.epoch)) return;
  // "Epoch(train) [1][50/663]": the bracket before the bar is the epoch.
  const bool in_brackets = (out_.words & kWordEpoch) != 0 && start >= 2 &&
                           line_[start - 1] == '[' && line_[start - 2] == ']' &&
                           spare_count_end_ == start - 2;
  if (!in_brackets && !counts_passes(start)) return;
  out_.epoch = spare_count_;
  out_.whole_epoch = true;
}

// "Train: 3 [ 450/1251 (36%)]": the number between a name and the bracket of the bar.
bool Scanner::counts_passes(size_t start) const {
  constexpr double kMostPasses = 1e5;
  if (spare_place_ == kNoPlace || spare_place_ < 3 || spare_count_ > kMostPasses) return false;
  if (line_.substr(spare_place_ - 2, 2) != ": " || !is_letter(line_[spare_place_ - 3]))
    return false;
  const std::string_view between = line_.substr(spare_count_end_, start - spare_count_end_);
  return between.starts_with(" [") && between.find_first_not_of(' ', 2) == std::string_view::npos;
}

bool Scanner::at_end() const {
  return std::all_of(line_.begin() + static_cast<std::ptrdiff_t>(number_.end), line_.end(),
                     [](char c) { return is_space(c); });
}

bool Scanner::start_of_line(size_t start) const {
  return start <= 2 &&
         std::all_of(line_.begin(), line_.begin() + static_cast<std::ptrdiff_t>(start),
                     [](char c) { return c == ' ' || c == '['; });
}

void Scanner::add_bare_rss() {
  out_.by_shape = false;
  const bool year = number_.value >= 1970 && number_.value < 2200;  // "10:00:05 2026"
  if (out_.count > 0 || number_.value < 100 || year || number_.grouped) return;
  LineFigure& figure = out_.figures[out_.count++];
  figure = {};
  figure.value = number_.value;
  figure.unit_mb = 1024.0 / 1e6;
  figure.bare_rss = true;
  figure.after_time = true;
}

}  // namespace plateau
