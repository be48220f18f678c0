// SPDX-License-Identifier: Apache-2.0
// Where the examples of a dataset file lie: its lines that are not blank, or, if the first byte
// that is no space is '[', the elements of a JSON array, on however many lines.
//
// The file comes block by block and is not kept. Of an array only so much is understood as finding
// its elements needs: strings, and how deep brackets are nested. Whether an element is JSON is seen
// when it is read. Blind spot: an element with brackets of the wrong kind, {"a": 1], is cut out by
// their number and refused then.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace plateau {

struct RecordPlace {
  uint64_t offset = 0;
  uint32_t bytes = 0;
  uint32_t line = 0;  // On which it begins, from 1, blank lines counted.
};
static_assert(sizeof(RecordPlace) == 16);

class RecordFinder {
 public:
  // What is wrong, with its line; nullopt if nothing is. After an error no more is added.
  std::optional<std::string> add(std::span<const char> block);
  std::optional<std::string> finish();

  [[nodiscard]] bool is_array() const { return form_ == Form::array; }
  std::vector<RecordPlace> take();

 private:
  enum class Form : uint8_t { unknown, lines, array };
  // Of an array: what may come next.
  enum class Next : uint8_t { first, element, inside, comma, nothing };

  const char* add_line_part(const char* at, const char* end);
  const char* add_array_part(const char* at, const char* end);
  const char* skip_string(const char* at, const char* end);
  void take_between(char c);
  void take_inside(char c);
  void close(uint64_t end);
  void complain(std::string what);

  Form form_ = Form::unknown;
  Next next_ = Next::first;
  uint64_t begin_ = 0;   // Of the record.
  uint64_t offset_ = 0;  // Of the next byte.
  uint32_t line_ = 1;
  uint32_t begin_line_ = 1;
  bool is_blank_ = true;  // The line, so far.
  uint32_t depth_ = 0;    // Brackets open within the element.
  bool in_string_ = false;
  bool is_escaped_ = false;
  std::optional<std::string> error_;
  std::vector<RecordPlace> places_;
};

}  // namespace plateau
