// SPDX-License-Identifier: Apache-2.0
// Times in a log line: which digits are a clock, a date or the bar's "[12:01<24:10".
#include <cmath>

#include "base/text.h"
#include "import/text_scanner.h"
#include "import/timestamp.h"

namespace plateau {

// "13:18:25", dates, and "[12:01<24:10" of a progress bar. True if it took the digits. The time
// is only read in full when the line turns out to be a sample; most lines are not.
bool Scanner::clock() {
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
size_t Scanner::clock_shape(size_t at) const {
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
size_t Scanner::date_shape() const {
  if (at_ + 19 > line_.size() || !is_digit(line_[at_ + 5]) || !is_digit(line_[at_ + 8]) ||
      line_[at_ + 7] != line_[at_ + 4] || !is_digit(line_[at_ + 11])) {
    return 0;
  }
  const size_t clock = clock_shape(at_ + 11);
  return clock > 0 ? 11 + clock : 0;
}

// Reads the time that clock() found; forgets it if it is none after all.
void Scanner::settle_time() {
  if (out_.time_place == kNoPlace) return;
  const auto stamp = parse_stamp(line_.substr(out_.time_place, 40));
  out_.has_time = stamp.has_value();
  out_.by_shape = out_.by_shape && stamp.has_value();
  if (stamp) out_.time = *stamp;
}

// Elapsed and remaining time of a progress bar.
bool Scanner::bar_clock() {
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

void Scanner::set_time(Stamp::Kind kind, double seconds) {
  if (!std::isfinite(seconds)) return;
  out_.has_time = true;
  out_.by_shape = false;
  out_.time = {kind, seconds, 0};
  number_sets_time_ = true;
}

}  // namespace plateau
