// SPDX-License-Identifier: Apache-2.0
// Writes JSON as it goes: no tree, one string, one line.
//
// Strings come out as valid UTF-8 whatever goes in: bad bytes become U+FFFD, control characters are
// escaped. Numbers are the shortest text that reads back as the same double; NaN and infinities,
// which JSON does not have, are null. The writer places commas and colons; the caller balances
// begin and end, and gives a key before each value inside an object.
//
//   JsonWriter json;
//   json.begin_object().key("file").value("a.log").key("limit_mb").null().end_object();
//   json.text();  // {"file":"a.log","limit_mb":null}
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace plateau {

class JsonWriter {
 public:
  JsonWriter& begin_object() { return begin("{"); }
  JsonWriter& end_object() { return end('}'); }
  JsonWriter& begin_array() { return begin("["); }
  JsonWriter& end_array() { return end(']'); }
  JsonWriter& key(std::string_view name);

  JsonWriter& null();
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(double number);
  // A template, so that a pointer or an integer never turns into a bool or a double unasked.
  template <std::same_as<bool> Bool>
  JsonWriter& value(Bool truth) {
    return raw(truth ? "true" : "false");
  }
  template <std::integral Integer>
    requires(!std::same_as<Integer, bool>)
  JsonWriter& value(Integer number) {
    return integer(static_cast<int64_t>(number));
  }
  template <typename T>
  JsonWriter& value(const std::optional<T>& maybe) {
    return maybe ? value(*maybe) : null();
  }

  // A value that is JSON already, as it is. Requires: `json` is one whole JSON value.
  JsonWriter& embed(std::string_view json) { return raw(json); }

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  JsonWriter& begin(std::string_view bracket);
  JsonWriter& end(char bracket);
  JsonWriter& raw(std::string_view token);
  JsonWriter& integer(int64_t number);
  void separate();

  std::string text_;
  bool needs_comma_ = false;
};

// `text` as a JSON string, with its quotes.
std::string json_quoted(std::string_view text);

}  // namespace plateau
