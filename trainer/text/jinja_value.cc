// SPDX-License-Identifier: Apache-2.0
#include "trainer/text/jinja_value.h"

#include <algorithm>

namespace plateau::train {

bool JinjaValue::is_true() const {
  if (const bool* value = as<bool>()) return *value;
  if (const int64_t* value = as<int64_t>()) return *value != 0;
  if (const std::string* value = as<std::string>()) return !value->empty();
  if (const List* value = as<List>()) return !(*value)->empty();
  if (const Map* value = as<Map>()) return !(*value)->empty();
  return false;
}

std::string JinjaValue::text() const {
  if (const bool* value = as<bool>()) return *value ? "True" : "False";
  if (const int64_t* value = as<int64_t>()) return std::to_string(*value);
  if (const std::string* value = as<std::string>()) return *value;
  return std::holds_alternative<None>(held) ? "None" : "";
}

bool JinjaValue::equals(const JinjaValue& other) const {
  if (held.index() != other.held.index()) return false;
  if (const bool* value = as<bool>()) return *value == *other.as<bool>();
  if (const int64_t* value = as<int64_t>()) return *value == *other.as<int64_t>();
  if (const std::string* value = as<std::string>()) return *value == *other.as<std::string>();
  if (const List* value = as<List>()) {
    return std::ranges::equal(**value, **other.as<List>(),
                              [](const JinjaValue& a, const JinjaValue& b) { return a.equals(b); });
  }
  if (const Map* value = as<Map>()) {
    return std::ranges::equal(**value, **other.as<Map>(), [](const auto& a, const auto& b) {
      return a.first == b.first && a.second.equals(b.second);
    });
  }
  return true;
}

JinjaValue JinjaValue::member(const JinjaValue& key) const {
  if (const Map* map = as<Map>()) {
    const std::string* name = key.as<std::string>();
    const auto found = name == nullptr ? (*map)->end() : (*map)->find(*name);
    return found == (*map)->end() ? JinjaValue() : found->second;
  }
  const int64_t* index = key.as<int64_t>();
  const List* list = as<List>();
  if (list == nullptr || index == nullptr) return {};
  const auto size = static_cast<int64_t>((*list)->size());
  const int64_t at = *index < 0 ? *index + size : *index;
  return at < 0 || at >= size ? JinjaValue() : (**list)[static_cast<size_t>(at)];
}

}  // namespace plateau::train
