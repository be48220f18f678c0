// SPDX-License-Identifier: Apache-2.0
// The machine behind read_pickle(); private to it. pickle.h says what it does and does not do.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "import/pickle.h"

namespace plateau {

// The input as instructions and their arguments. After the end every answer is 0 or empty, and
// ended() is set.
class PickleInput {
 public:
  explicit PickleInput(LineReader& input) : input_(input) {}

  uint8_t byte();
  uint64_t little(size_t size);  // `size` bytes, lowest first; at most 8.
  // `size` bytes; all are read, at most `keep` of them are given. Valid until the next call.
  std::string_view bytes(uint64_t size, size_t keep);
  // Up to a line feed, which is left out.
  std::string_view line();

  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] uint64_t position() const { return position_; }

 private:
  static constexpr size_t kChunk = 64u << 10;
  bool refill();

  LineReader& input_;
  std::string chunk_;
  size_t at_ = 0;
  uint64_t position_ = 0;
  bool ended_ = false;
  std::string scratch_;
};

class PickleMachine {
 public:
  explicit PickleMachine(LineReader& input) : input_(input) {}
  Result<Pickle> run();

 private:
  using Kind = PickleValue::Kind;

  // Each handles the instructions of one family; false if `op` is none of them.
  bool do_stack(uint8_t op);
  bool do_number(uint8_t op);
  bool do_text(uint8_t op);
  bool do_container(uint8_t op);
  bool do_memo(uint8_t op);
  bool do_object(uint8_t op);
  bool do_other(uint8_t op);

  void push(PickleValue value);
  void push(Kind kind, uint64_t payload = 0) { push(PickleValue(kind, payload)); }
  PickleValue pop();
  void push_integer(int64_t value);
  void push_real(double value);
  void push_long(std::string_view bytes);
  void push_decimal(std::string_view digits);
  void push_text(std::string_view text);
  void push_container(Kind kind, size_t items);  // Of the topmost values, which are taken off.
  void push_opaque_for(size_t taken);            // In the place of the topmost values.
  void push_global(std::string_view module, std::string_view name);
  size_t since_mark();  // How many values stand above the last mark, which is taken off.
  void add_to(size_t items, Kind wanted);
  void memoise(uint64_t index);
  void recall(uint64_t index);
  void fail(std::string why);

  PickleInput input_;
  Pickle pickle_;
  std::vector<PickleValue> stack_;
  std::vector<size_t> marks_;
  std::deque<PickleValue> memo_;
  uint64_t instructions_ = 0;
  size_t values_ = 0;
  std::string trouble_;
};

}  // namespace plateau
