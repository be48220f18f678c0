// SPDX-License-Identifier: Apache-2.0
// A Python pickle as plain values, read by a machine that executes nothing.
//
// A pickle is a program for a stack machine: most of its instructions put values together, a few
// import names and call them, and with those a pickle can do anything. This machine knows all
// instructions of protocols 0 to 5 and runs those that put together numbers, texts, lists, tuples
// and dicts. What would import or call (GLOBAL, REDUCE, BUILD, NEWOBJ, INST, …) becomes an opaque
// value that holds nothing; the two exceptions are collections.OrderedDict and defaultdict, which
// become plain dicts. Sets, and buffers outside the file, are opaque too.
//
// A value takes eight bytes: four bits of kind and sixty of what it is, or of where it stands.
// Whole numbers beyond 60 bits become doubles. Worked case: one event of a memory history is six to
// eight pairs, some 65 bytes in the file and 170 here.
//
// Limits, each an error with a sentence: kMaxValues in all containers together, kMaxStack on the
// stack. Texts are cut to kMaxText. A container may contain itself, so whoever walks down must stop
// at a depth of their own. Not synchronised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "import/line_reader.h"

namespace plateau {

class PickleValue {
 public:
  enum class Kind : uint8_t { none, boolean, integer, real, text, list, dict, opaque, dict_maker };

  PickleValue() = default;
  PickleValue(Kind kind, uint64_t payload)
      : bits_(static_cast<uint64_t>(kind) << kShift | (payload & kMask)) {}

  [[nodiscard]] Kind kind() const { return static_cast<Kind>(bits_ >> kShift); }
  [[nodiscard]] uint64_t payload() const { return bits_ & kMask; }
  // Of a list or a dict: the same for the same object.
  [[nodiscard]] uint64_t identity() const { return bits_; }

 private:
  static constexpr int kShift = 60;
  static constexpr uint64_t kMask = (uint64_t{1} << kShift) - 1;
  uint64_t bits_ = 0;
};

class Pickle {
 public:
  static constexpr size_t kMaxValues = 64u << 20;
  static constexpr size_t kMaxStack = 4u << 20;
  static constexpr size_t kMaxText = 4096;

  [[nodiscard]] PickleValue root() const { return root_; }

  // Each of these gives 0, "" or nothing for a value of another kind.
  [[nodiscard]] int64_t integer(PickleValue value) const;  // Of a boolean too.
  [[nodiscard]] double number(PickleValue value) const;    // Of an integer too.
  [[nodiscard]] std::string_view text(PickleValue value) const;
  [[nodiscard]] std::span<const PickleValue> items(PickleValue list) const;  // Of a tuple too.
  // Key, value, key, value, …
  [[nodiscard]] std::span<const PickleValue> pairs(PickleValue dict) const;
  // What a dict holds under a text, the last one if it was set again; none if nothing.
  [[nodiscard]] PickleValue at(PickleValue dict, std::string_view key) const;

 private:
  friend class PickleMachine;

  PickleValue root_;
  std::string texts_;
  std::vector<double> reals_;
  std::deque<std::vector<PickleValue>> containers_;
};

// Fails with a sentence where the input is no pickle, ends too early, or is beyond the limits.
Result<Pickle> read_pickle(LineReader& input);

bool looks_like_pickle(std::string_view head);
// A pickle that begins as torch.cuda.memory._snapshot() does.
bool looks_like_cuda_snapshot(std::string_view head);

}  // namespace plateau
