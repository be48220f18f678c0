// SPDX-License-Identifier: Apache-2.0
// Which bytes of a JSON text are its grammar, and which say something.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace plateau::train {

enum class JsonClass : uint8_t {
  structure,  // Brackets, colons, commas, white space, and the quotes of keys and strings.
  key,        // Between the quotes of an object's key.
  literal,    // true, false, null
  number,
  string,  // Between the quotes of a value.
};

struct JsonSpan {
  size_t begin = 0;
  size_t end = 0;
  JsonClass kind = JsonClass::structure;
  bool operator==(const JsonSpan&) const = default;
};

// Spans in order that cover every byte of `text`, neighbours of different classes. Nothing if
// `text` is not exactly one object or list in JSON (RFC 8259) with white space around it: an answer
// such as `42` or "yes" is an answer, not a document, and one inside a Markdown fence is Markdown.
// Bytes inside strings are not checked to be UTF-8. Any depth; linear time, no recursion.
std::optional<std::vector<JsonSpan>> json_spans(std::string_view text);

}  // namespace plateau::train
