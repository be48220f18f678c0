// SPDX-License-Identifier: Apache-2.0
#include "trainer/text/jinja_operations.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "trainer/text/jinja_expression.h"

namespace plateau::train {

bool jinja_contains(const JinjaValue& all, const JinjaValue& one) {
  if (const auto* map = all.as<JinjaValue::Map>()) {
    const std::string* name = one.as<std::string>();
    return name != nullptr && (*map)->contains(*name);
  }
  if (const auto* list = all.as<JinjaValue::List>()) {
    return std::ranges::any_of(**list, [&](const JinjaValue& each) { return each.equals(one); });
  }
  const std::string* text = all.as<std::string>();
  const std::string* part = one.as<std::string>();
  if (text == nullptr || part == nullptr)
    throw JinjaFailure{"\"in\" of a value that holds nothing"};
  return text->find(*part) != std::string::npos;
}

bool jinja_passes(const JinjaValue& value, std::string_view test) {
  if (test == "defined") return value.is_defined();
  if (test == "undefined") return !value.is_defined();
  if (test == "none") return value.as<JinjaValue::None>() != nullptr;
  if (test == "string") return value.as<std::string>() != nullptr;
  if (test == "mapping") return value.as<JinjaValue::Map>() != nullptr;
  if (test == "number") return value.as<int64_t>() != nullptr;
  if (test == "boolean") return value.as<bool>() != nullptr;
  if (test == "true") return value.as<bool>() != nullptr && *value.as<bool>();
  if (test == "false") return value.as<bool>() != nullptr && !*value.as<bool>();
  // Texts, lists and objects can be walked over.
  return value.as<std::string>() != nullptr || value.as<JinjaValue::List>() != nullptr ||
         value.as<JinjaValue::Map>() != nullptr;
}

JinjaValue jinja_filtered(const JinjaValue& value, std::string_view filter) {
  const std::string* text = value.as<std::string>();
  if (filter == "trim" && text != nullptr) return std::string(trim(*text));
  if (filter == "trim") throw JinjaFailure{"|trim of a value that is no text"};
  if (text != nullptr) return static_cast<int64_t>(text->size());
  if (const auto* list = value.as<JinjaValue::List>()) return static_cast<int64_t>((*list)->size());
  if (const auto* map = value.as<JinjaValue::Map>()) return static_cast<int64_t>((*map)->size());
  throw JinjaFailure{"|length of a value without one"};
}

JinjaValue jinja_sum(const JinjaValue& a, const JinjaValue& b, int sign) {
  if (a.as<int64_t>() != nullptr && b.as<int64_t>() != nullptr) {
    const auto right = static_cast<uint64_t>(*b.as<int64_t>());
    return static_cast<int64_t>(static_cast<uint64_t>(*a.as<int64_t>()) +
                                (sign > 0 ? right : 0 - right));
  }
  if (sign > 0 && a.as<std::string>() != nullptr && b.as<std::string>() != nullptr) {
    return *a.as<std::string>() + *b.as<std::string>();
  }
  throw JinjaFailure{"+ or - between values that cannot be added"};
}

JinjaValue jinja_slice(const JinjaValue& value, const JinjaValue& from, const JinjaValue& to) {
  const auto* list = value.as<JinjaValue::List>();
  if (list == nullptr) throw JinjaFailure{"a slice of something that is no list"};
  const auto size = static_cast<int64_t>((*list)->size());
  const auto place = [&](const JinjaValue& given, int64_t otherwise) {
    const int64_t at = given.as<int64_t>() != nullptr ? *given.as<int64_t>() : otherwise;
    return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
  };
  const int64_t begin = place(from, 0);
  const int64_t end = std::max(begin, place(to, size));
  return std::make_shared<std::vector<JinjaValue>>((*list)->begin() + begin,
                                                   (*list)->begin() + end);
}

}  // namespace plateau::train
