// SPDX-License-Identifier: Apache-2.0
// Writes JSON as it goes: no tree, one string, one line.
//
// Strings come out as valid UTF-8 whatever goes in: bad bytes become U+FFFD, control characters are
// escaped. Numbers are the shortest text that reads back as the same double; NaN and infinities,
// which JSON does not have, are null. The writer places commas and colons; the caller balances
// begin and end, and gives a key before each value inside an object.
//
//   JsonWriter json;
//   json.begin_object().members("file", "a.log", "limit_mb", text_or_null("")).end_object();
//   json.text();  // {"file":"a.log","limit_mb":null}
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
  template <typename T>
  JsonWriter& value(const std::vector<T>& list) {
    begin_array();
    for (const T& each : list) value(each);
    return end_array();
  }
  // What writes itself as one value: json_object(), json_list(), a lambda.
  template <std::invocable<JsonWriter&> Write>
  JsonWriter& value(const Write& write) {
    write(*this);
    return *this;
  }

  // Keys and values in turn, for the object that is open.
  JsonWriter& members() { return *this; }
  template <typename Value, typename... Rest>
  JsonWriter& members(std::string_view name, const Value& its_value, const Rest&... rest) {
    return key(name).value(its_value).members(rest...);
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

// Values that are written when the writer gets to them: an object, an array, and null or the value
// of what may be missing (an optional, a pointer). All hold references: for the expression they
// stand in, not to be kept. What `of(element)` gives stands for an element; or `of(json, element)`
// writes it.
template <typename... Members>
auto json_object(const Members&... members) {
  return [&members...](JsonWriter& json) { json.begin_object().members(members...).end_object(); };
}
template <typename Of, typename Element>
void write_json(JsonWriter& json, const Of& of, const Element& element) {
  if constexpr (std::invocable<const Of&, JsonWriter&, const Element&>) {
    of(json, element);
  } else {
    json.value(std::invoke(of, element));
  }
}
template <typename List, typename Of>
auto json_list(const List& list, const Of& of) {
  return [&list, &of](JsonWriter& json) {
    json.begin_array();
    for (const auto& each : list) write_json(json, of, each);
    json.end_array();
  };
}
template <typename Maybe, typename Of>
auto json_if(const Maybe& maybe, const Of& of) {
  return [&maybe, &of](JsonWriter& json) {
    if (maybe) {
      write_json(json, of, *maybe);
    } else {
      json.null();
    }
  };
}

// What is not known is null: a text that is empty, a value without its condition, a member of
// nothing.
inline std::optional<std::string_view> text_or_null(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(text);
}
template <typename T>
std::optional<T> value_if(bool known, T value) {
  return known ? std::optional<T>(std::move(value)) : std::nullopt;
}
template <typename T, typename Owner>
std::optional<T> member_of(const std::optional<Owner>& owner, T Owner::* member) {
  return owner ? std::optional<T>((*owner).*member) : std::nullopt;
}

// `text` as a JSON string, with its quotes.
std::string json_quoted(std::string_view text);

}  // namespace plateau
