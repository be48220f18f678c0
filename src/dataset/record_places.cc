// SPDX-License-Identifier: Apache-2.0
#include "dataset/record_places.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/text.h"

namespace plateau {
namespace {

// What simdjson takes, with room for its padding.
constexpr uint64_t kMaxRecordBytes = std::numeric_limits<uint32_t>::max() - 4096;

}  // namespace

std::optional<std::string> RecordFinder::add(std::span<const char> block) {
  const char* at = block.data();
  const char* const end = at + block.size();
  while (at < end && !error_) {
    if (form_ == Form::unknown) {
      // Blank lines before the first example belong to either form.
      const char* const first = std::find_if_not(at, end, is_space);
      line_ += static_cast<uint32_t>(std::count(at, first, '\n'));
      offset_ += static_cast<uint64_t>(first - at);
      begin_ = offset_;
      at = first;
      if (at == end) break;
      form_ = *at == '[' ? Form::array : Form::lines;
      if (form_ == Form::lines) continue;
      ++offset_;
      ++at;
    } else {
      at = form_ == Form::lines ? add_line_part(at, end) : add_array_part(at, end);
    }
  }
  return error_;
}

std::optional<std::string> RecordFinder::finish() {
  if (error_) return error_;
  if (form_ == Form::lines && !is_blank_) close(offset_);
  if (form_ == Form::array && next_ != Next::nothing) {
    complain("the file ends within its array: it is cut off");
  }
  return error_;
}

std::vector<RecordPlace> RecordFinder::take() {
  places_.shrink_to_fit();
  return std::move(places_);
}

// Up to the end of the line, or of the block.
const char* RecordFinder::add_line_part(const char* at, const char* end) {
  const void* const found = std::memchr(at, '\n', static_cast<size_t>(end - at));
  const char* const stop = found != nullptr ? static_cast<const char*>(found) : end;
  if (is_blank_) is_blank_ = std::all_of(at, stop, is_space);
  offset_ += static_cast<uint64_t>(stop - at);
  if (found == nullptr) return end;
  if (!is_blank_) close(offset_);
  is_blank_ = true;
  ++line_;
  begin_ = ++offset_;
  return stop + 1;
}

const char* RecordFinder::add_array_part(const char* at, const char* end) {
  while (at < end && !error_) {
    if (in_string_) {
      at = skip_string(at, end);
      continue;
    }
    if (next_ == Next::inside) {
      take_inside(*at);
    } else {
      take_between(*at);
    }
    line_ += *at == '\n' ? 1 : 0;
    ++offset_;
    ++at;
  }
  return at;
}

// Strings are nearly all of a file with pictures in it.
const char* RecordFinder::skip_string(const char* at, const char* end) {
  const char* const begin = at;
  while (at < end) {
    const char c = *at++;
    line_ += c == '\n' ? 1 : 0;
    if (is_escaped_) {
      is_escaped_ = false;
    } else if (c == '\\') {
      is_escaped_ = true;
    } else if (c == '"') {
      in_string_ = false;
      break;
    }
  }
  offset_ += static_cast<uint64_t>(at - begin);
  return at;
}

void RecordFinder::take_between(char c) {
  if (is_space(c)) return;
  if (next_ == Next::nothing) return complain("something stands behind the end of the array");
  if (c == ']') {
    if (next_ == Next::element) return complain("an example is expected behind ','");
    next_ = Next::nothing;
  } else if (next_ == Next::comma) {
    if (c != ',') return complain("',' or ']' is expected behind an example");
    next_ = Next::element;
  } else if (c == ',') {
    complain("an example is expected before ','");
  } else {
    next_ = Next::inside;
    begin_ = offset_;
    begin_line_ = line_;
    depth_ = 0;
    take_inside(c);
  }
}

// An element without brackets, which is no example, ends where the next thing begins.
void RecordFinder::take_inside(char c) {
  if (depth_ == 0 && offset_ != begin_ && (is_space(c) || c == ',' || c == ']')) {
    close(offset_);
    next_ = Next::comma;
    return take_between(c);
  }
  if (c == '"') in_string_ = true;
  if (c == '{' || c == '[') ++depth_;
  if ((c != '}' && c != ']') || depth_ == 0) return;
  --depth_;
  if (depth_ == 0) {
    close(offset_ + 1);
    next_ = Next::comma;
  }
}

void RecordFinder::close(uint64_t end) {
  if (form_ == Form::lines) begin_line_ = line_;
  const uint64_t bytes = end - std::min(begin_, end);
  if (bytes > kMaxRecordBytes) return complain("longer than 4 GB");
  places_.push_back({begin_, static_cast<uint32_t>(bytes), begin_line_});
}

void RecordFinder::complain(std::string what) {
  error_ = "line " + std::to_string(line_) + ": " + std::move(what);
}

}  // namespace plateau
