// SPDX-License-Identifier: Apache-2.0
// The text of a Python program as tokens, logical lines and the blocks of its functions and
// classes.
//
// As much of Python's grammar as finding a line needs: strings with their prefixes, comments,
// brackets, lines that go on. Any bytes are taken; what is no Python makes tokens that nothing is
// found in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plateau {

struct SourceToken {
  enum class Kind : uint8_t { name, text, other };
  Kind kind = Kind::other;
  std::string_view text;  // Of a string what is between its quotes.
  int line = 0;           // From 1.
};

// What Python takes as one line: several lines of text where brackets or a backslash say so.
struct LogicalLine {
  size_t first = 0;  // Its tokens: first to end - 1.
  size_t end = 0;
  size_t indent = 0;
};

// A `def` or `class` with its body, as logical lines.
struct SourceBlock {
  std::string_view name;
  bool is_class = false;
  size_t first = 0;  // The line of the `def`.
  size_t end = 0;
  size_t parent = SIZE_MAX;  // The block that it is in; SIZE_MAX: none.
};

struct PythonSource {
  static constexpr size_t kNoBlock = SIZE_MAX;

  std::vector<SourceToken> tokens;  // Point into the text.
  std::vector<LogicalLine> lines;
  std::vector<SourceBlock> blocks;  // By where they begin.

  // The innermost block that the logical line is in, `def` line included.
  [[nodiscard]] size_t block_of(size_t line) const;
};

// `text` must outlive it.
PythonSource read_python_source(std::string_view text);

}  // namespace plateau
