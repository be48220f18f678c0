// SPDX-License-Identifier: Apache-2.0
// How right answers are: word for word, and field by field where JSON is expected.
//
// A field is a value that is no object or array with something in it, at its path: {"a": {"b": 1},
// "c": [2, 3]} has /a/b, /c/0 and /c/1. An answer has a field right if it has a value at the same
// path, of the same type and equal; numbers are compared as numbers, so 1 and 1.0 are equal. Fields
// that were not expected are counted apart: they make no field wrong.
//
// Worked case: expected {"shape": "disc", "colour": "red"}, answered {"shape": "disc", "colour":
// "blue", "size": 3}: not exact, 1 of 2 fields right, 1 not expected. An answer that is no JSON has
// none of its fields right.
#pragma once

#include <cstdint>
#include <string_view>

namespace plateau::train {

// Sums over answers, so that those of several processes can be added.
struct AnswerScore {
  int64_t asked = 0;
  int64_t exact = 0;          // Equal but for white space around them.
  int64_t json_expected = 0;  // Examples whose right answer is a JSON object or array.
  int64_t json_valid = 0;     // Of those, answers that are JSON.
  int64_t fields = 0;         // Of the right answers.
  int64_t fields_right = 0;
  int64_t fields_extra = 0;  // Of answers, that were not expected.

  AnswerScore& operator+=(const AnswerScore& other);
  friend bool operator==(const AnswerScore&, const AnswerScore&) = default;

  // Shares in [0, 1]; 0 where nothing was asked.
  [[nodiscard]] double exact_match() const;
  [[nodiscard]] double json_validity() const;
  [[nodiscard]] double field_accuracy() const;
};

AnswerScore score_answer(std::string_view answer, std::string_view expected);

}  // namespace plateau::train
