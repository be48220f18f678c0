// SPDX-License-Identifier: Apache-2.0
#include "base/json_writer.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "base/utf8.h"

namespace plateau {
namespace {

void append_escaped(std::string& out, char32_t value) {
  constexpr std::string_view kSpecial = "\"\\\n\t\r";
  constexpr std::string_view kLetters = "\"\\ntr";
  const bool may_be_special = value < 0x20 || value == '"' || value == '\\';
  const size_t at = may_be_special ? kSpecial.find(static_cast<char>(value)) : kSpecial.npos;
  if (at != kSpecial.npos) {
    out += {'\\', kLetters[at]};
  } else if (value < 0x20 || (value >= 0x7F && value <= 0x9F)) {
    out += fmt::format("\\u{:04x}", static_cast<uint32_t>(value));
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

JsonWriter& JsonWriter::begin(std::string_view bracket) {
  raw(bracket);
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::end(char bracket) {
  text_.push_back(bracket);
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
