// SPDX-License-Identifier: Apache-2.0
// Cuts a byte source into lines, whatever wrote it.
//
// "\n", "\r\n" and a bare "\r" (progress bars redraw with it) all end a line. ANSI escape sequences
// are taken out. Bytes that are no valid text stay as they are; the readers treat them as gaps. A
// line longer than kMaxLine is cut there and counted in overlong(), so memory stays bounded.
//
// A line is a view into the reader's buffer, valid until the next call. Not synchronised.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "import/byte_source.h"

namespace plateau {

class LineReader {
 public:
  static constexpr size_t kMaxLine = 1u << 20;
  static constexpr size_t kMaxDocument = 512u << 20;  // For read_all().

  explicit LineReader(std::unique_ptr<ByteSource> source);

  // Up to `size` bytes from the start of the input, without consuming them. Requires: called before
  // next(), size <= kMaxLine.
  std::string_view peek(size_t size);

  // The next line without its end; false when there is none.
  bool next(std::string_view& line);

  // Moves up to `size` bytes into `to` as they are, for formats that have no lines; fewer only at
  // the end of the input.
  size_t read(char* to, size_t size);

  // The rest of the input as one document, with `padding` zero bytes after it in the string's
  // buffer. Fails when it is larger than kMaxDocument.
  Result<std::string> read_all(size_t padding);

  [[nodiscard]] size_t number() const { return number_; }  // Of the last line, from 1.
  [[nodiscard]] size_t overlong() const { return overlong_; }
  // Set when the source failed; what was read before it is still good.
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  bool refill();
  void grow();
  size_t find_end(size_t from);
  void step_over_end();
  void skip_rest_of_line();
  void mark_controls(size_t from);

  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<char[]> buffer_;
  size_t capacity_;
  size_t at_ = 0;    // Start of the next line.
  size_t size_ = 0;  // End of what is buffered.
  bool ended_ = false;
  bool cut_ = false;         // The last line was cut at kMaxLine; its rest is to be skipped.
  bool has_cr_ = false;      // A "\r" may be in the buffer.
  bool has_escape_ = false;  // An ESC may be in the buffer.
  bool after_cr_ = false;    // The last line ended in "\r": an "\n" right here belongs to it.
  size_t number_ = 0;
  size_t overlong_ = 0;
  std::optional<Error> error_;
};

// Takes ANSI escape sequences out of `text` in place and returns the new length.
size_t strip_ansi(char* text, size_t size);

}  // namespace plateau
