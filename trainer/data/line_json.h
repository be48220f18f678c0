// SPDX-License-Identifier: Apache-2.0
// Reading one line of JSON value by value, with messages that say what was expected.
//
// Fields are taken as they come, so a picture of many megabytes is unescaped once and never stored
// as a tree. Values that nobody asks for are stepped over.
#pragma once

#include <simdjson.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace plateau::train {

// For messages: a value's text may be megabytes.
std::string in_quotes(std::string_view text);
// "a list", "an object" ...
std::string_view name_of(simdjson::ondemand::json_type type);

// Every step returns false once an error is set.
class LineJson {
 public:
  [[nodiscard]] Error error() const { return Error{Error::Kind::bad_input, error_}; }

 protected:
  using Value = simdjson::ondemand::value;
  using Type = simdjson::ondemand::json_type;

  bool fail(std::string what) {
    error_ = std::move(what);
    return false;
  }
  bool fail_json(simdjson::error_code code);
  bool fail_type(const std::string& what, std::string_view expected, Type found) {
    return fail(what + ": " + std::string(expected) + " is expected, found " +
                std::string(name_of(found)));
  }
  // What `value` is, and an error if it is none of JSON's types.
  template <typename AnyValue>
  bool type_of(AnyValue& value, Type& type) {
    if (const simdjson::error_code code = value.type().get(type)) return fail_json(code);
    if (type != Type::null) return true;
    // simdjson has looked at the first letter only.
    bool is_null = false;
    const simdjson::error_code code = value.is_null().get(is_null);
    return code || !is_null ? fail_json(simdjson::N_ATOM_ERROR) : true;
  }

  // Calls visit(key, value) for every member until one returns false.
  template <typename Visit>
  bool each_member(simdjson::ondemand::object object, Visit visit) {
    for (auto member : object) {
      simdjson::ondemand::field field;
      if (const auto code = std::move(member).get(field)) return fail_json(code);
      std::string_view key;
      if (const auto code = field.unescaped_key().get(key)) return fail_json(code);
      if (!visit(key, field.value())) return false;
    }
    return true;
  }
  // Calls visit(element, number) for every element, counted from 1, until one returns false. An
  // error, for which `what` is the name, unless `value` is a list.
  template <typename Visit>
  bool each_element(Value value, const std::string& what, Visit visit) {
    Type type{};
    if (!type_of(value, type)) return false;
    if (type != Type::array) return fail_type(what, "a list", type);
    simdjson::ondemand::array list;
    if (const auto code = value.get_array().get(list)) return fail_json(code);
    size_t number = 0;
    for (auto member : list) {
      Value element;
      if (const auto code = std::move(member).get(element)) return fail_json(code);
      if (!visit(element, ++number)) return false;
    }
    return true;
  }
  bool to_object(Value value, const std::string& what, simdjson::ondemand::object& out);
  bool read_string(Value value, const std::string& what, std::string_view& out);
  // null counts as left out: tools that write all parts with the same fields fill them so.
  bool read_optional(Value value, const std::string& what, std::optional<std::string_view>& out);
  // Whether it says something: not null, false, 0, "", [] or {}.
  bool read_is_set(Value value, bool& is_set);

 private:
  std::string error_;
};

}  // namespace plateau::train
