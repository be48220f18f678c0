// SPDX-License-Identifier: Apache-2.0
// What a template computes with: JSON's values, "undefined" for what is not there, and namespaces,
// which are objects that a loop may write to.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace plateau::train {

struct JinjaValue {
  struct Undefined {};
  struct None {};
  using List = std::shared_ptr<std::vector<JinjaValue>>;
  using Map = std::shared_ptr<std::map<std::string, JinjaValue>>;

  std::variant<Undefined, None, bool, int64_t, std::string, List, Map> held;

  JinjaValue() = default;
  JinjaValue(bool value) : held(value) {}                      // NOLINT: reads as the value
  JinjaValue(int64_t value) : held(value) {}                   // NOLINT
  JinjaValue(std::string value) : held(std::move(value)) {}    // NOLINT
  JinjaValue(const char* value) : held(std::string(value)) {}  // NOLINT
  JinjaValue(List value) : held(std::move(value)) {}           // NOLINT
  JinjaValue(Map value) : held(std::move(value)) {}            // NOLINT
  static JinjaValue none() {
    JinjaValue out;
    out.held = None{};
    return out;
  }

  template <typename T>
  [[nodiscard]] const T* as() const {
    return std::get_if<T>(&held);
  }
  [[nodiscard]] bool is_defined() const { return !std::holds_alternative<Undefined>(held); }
  // As Python's bool(): empty texts, lists and objects are false.
  [[nodiscard]] bool is_true() const;
  // As {{ }} writes it; lists and objects have no text here.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool equals(const JinjaValue& other) const;
  // Of an object, of a list from either end; undefined if it is not there.
  [[nodiscard]] JinjaValue member(const JinjaValue& key) const;
};

}  // namespace plateau::train
