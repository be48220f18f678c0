// SPDX-License-Identifier: Apache-2.0
// Fields of a foreign JSON object, each checked as it is taken: what is missing, of another type or
// beyond what any model has is one sentence that names the file and the key.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace plateau {

// Reads from one object and remembers the first thing that was wrong; later reads then give their
// fallback. Views point into the document.
class JsonFields {
 public:
  JsonFields(simdjson::dom::object object, std::string file, std::string inside = "")
      : object_(object), file_(std::move(file)), inside_(std::move(inside)) {}

  // A whole number in 1..most under the first of `names` that is there; null counts as missing.
  int64_t size(std::initializer_list<std::string_view> names, int64_t most);
  int64_t size_or(std::initializer_list<std::string_view> names, int64_t most, int64_t fallback);
  // The same, but what is missing is an error where `fallback` is 0.
  int64_t size_unless(int64_t fallback, std::initializer_list<std::string_view> names,
                      int64_t most);
  double real_or(std::string_view name, double fallback);
  bool flag_or(std::string_view name, bool fallback);
  std::string text_or(std::string_view name, std::string fallback);
  // Of a list; 0 if there is none.
  int64_t length_of(std::string_view name);
  [[nodiscard]] bool has(std::string_view name) const;
  // An object inside this one; nullopt if it is not there or null.
  std::optional<JsonFields> inner(std::string_view name);
  // What an inner object found wrong is wrong here too.
  void take_error(const JsonFields& inner);
  void fail(std::string_view key, std::string_view what);

  [[nodiscard]] bool ok() const { return error_.empty(); }
  [[nodiscard]] Error error() const { return {Error::Kind::bad_input, error_}; }

 private:
  std::optional<simdjson::dom::element> find(std::string_view name) const;
  std::optional<int64_t> whole(std::string_view name, int64_t most);

  simdjson::dom::object object_;
  std::string file_;
  std::string inside_;  // "text_config": for messages.
  std::string error_;
};

// Of a JSON value, for messages: "a list", "a number".
std::string_view json_kind(simdjson::dom::element element);

}  // namespace plateau
