// SPDX-License-Identifier: Apache-2.0
// The walk over one line behind scan_line(). Inside this room only: text_scan.cc walks and judges
// amounts, text_scan_clock.cc finds times, text_scan_count.cc judges numbers without a unit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "import/text_number.h"
#include "import/text_scan.h"

namespace plateau {

// Reads `line` into `out`. Requires: kPadding readable zero bytes on both sides of `line`.
class Scanner {
 public:
  static constexpr size_t kPadding = 32;

  Scanner(std::string_view line, ScannedLine& out) : line_(line), out_(out) {}

  void run();
  // Reads the time that clock() found; forgets it if it is none after all.
  void settle_time();

 private:
  // What stands right before the number's first digit.
  enum class Lead : uint8_t { plain, plus, minus, glued, range };

  // Both may look past the line's ends, into the padding.
  [[nodiscard]] char before(size_t back) const {
    return *(line_.data() + (static_cast<std::ptrdiff_t>(at_) - static_cast<std::ptrdiff_t>(back)));
  }
  [[nodiscard]] char char_at(size_t at) const { return line_.data()[at]; }

  // Words.
  void fresh_start();
  void arrow();
  [[nodiscard]] bool closes_a_place() const;
  void word();
  void note_word(WordBits bits, std::string_view text, size_t end);
  [[nodiscard]] WordBits word_after(size_t at) const;

  // Numbers, and amounts of memory.
  void number();
  [[nodiscard]] Lead lead() const;
  [[nodiscard]] bool follows_word() const;
  [[nodiscard]] bool glued_to_key() const;
  void skip_glued();
  bool skip_within_name();
  bool read_unit();
  void amount(Lead lead, size_t start);
  [[nodiscard]] char before_start(size_t start) const;
  void mark_denominator();
  void add_figure(double value, double unit_mb, WordBits after, size_t start);
  [[nodiscard]] bool is_prose(size_t start) const;
  [[nodiscard]] bool assigned(size_t start) const;
  [[nodiscard]] bool points_here(size_t start) const;

  // Times.
  bool clock();
  [[nodiscard]] size_t clock_shape(size_t at) const;
  [[nodiscard]] size_t date_shape() const;
  bool bar_clock();
  void set_time(Stamp::Kind kind, double seconds);

  // Numbers without a unit.
  void count(Lead lead, size_t start, bool claimed);
  double ratio();
  bool claim(double total);
  bool claim_step(double total);
  bool memory_by_key(bool claimed);
  [[nodiscard]] bool unit_closes() const;
  bool tensor_count();
  void bar(size_t start, double total);
  [[nodiscard]] bool counts_passes(size_t start) const;
  [[nodiscard]] bool at_end() const;
  [[nodiscard]] bool start_of_line(size_t start) const;
  void add_bare_rss();

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

  LineNumber number_;  // The one being judged.
  Place total_place_ = kNoPlace;
  double unit_mb_ = 0;
  size_t unit_end_ = 0;
};

}  // namespace plateau
