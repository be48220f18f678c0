// SPDX-License-Identifier: Apache-2.0
#include "base/json_writer.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "base/utf8.h"

namespace plateau {
namespace {

void append_escaped(std::string& out, char32_t value) {
  switch (value) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\r':
      out += "\\r";
      return;
    default:
      break;
  }
  // DEL and the C1 controls are legal JSON, but the output may be shown on a terminal as it is.
  if (value < 0x20 || (value >= 0x7F && value <= 0x9F)) {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<uint32_t>(value));
  } else {
    append_utf8(out, value);
  }
}

}  // namespace

std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const CodePoint point = decode_utf8(text);
    append_escaped(out, point.value);
    text.remove_prefix(point.bytes);
  }
  out.push_back('"');
  return out;
}

void JsonWriter::separate() {
  if (needs_comma_) text_.push_back(',');
  needs_comma_ = true;
}

JsonWriter& JsonWriter::raw(std::string_view token) {
  separate();
  text_ += token;
  return *this;
}

JsonWriter& JsonWriter::begin_object() {
  raw("{");
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::end_object() {
  text_.push_back('}');
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::begin_array() {
  raw("[");
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::end_array() {
  text_.push_back(']');
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  raw(json_quoted(name));
  text_.push_back(':');
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::null() {
  return raw("null");
}

JsonWriter& JsonWriter::value(std::string_view text) {
  return raw(json_quoted(text));
}

JsonWriter& JsonWriter::value(double number) {
  if (!std::isfinite(number)) return null();
  // fmt prints the shortest round trip, and "-0" and "83.0" for whole numbers: both are tidied.
  if (number == 0) return raw("0");
  std::string digits = fmt::format("{}", number);
  if (digits.ends_with(".0")) digits.resize(digits.size() - 2);
  return raw(digits);
}

JsonWriter& JsonWriter::integer(int64_t number) {
  return raw(fmt::format("{}", number));
}

}  // namespace plateau
