// SPDX-License-Identifier: Apache-2.0
#include "plan/json_fields.h"

#include <fmt/format.h>

#include <cmath>

namespace plateau {

namespace dom = simdjson::dom;

std::string_view json_kind(dom::element element) {
  switch (element.type()) {
    case dom::element_type::ARRAY:
      return "a list";
    case dom::element_type::OBJECT:
      return "an object";
    case dom::element_type::STRING:
      return "a string";
    case dom::element_type::BOOL:
      return "true or false";
    case dom::element_type::NULL_VALUE:
      return "null";
    default:
      return "a number";
  }
}

std::optional<dom::element> JsonFields::find(std::string_view name) const {
  dom::element found;
  if (object_.at_key(name).get(found) != simdjson::SUCCESS || found.is_null()) return std::nullopt;
  return found;
}

bool JsonFields::has(std::string_view name) const {
  return find(name).has_value();
}

void JsonFields::fail(std::string_view key, std::string_view what) {
  if (!error_.empty()) return;
  error_ = inside_.empty() ? fmt::format("{}: \"{}\" {}", file_, key, what)
                           : fmt::format("{}: \"{}\" of \"{}\" {}", file_, key, inside_, what);
}

void JsonFields::take_error(const JsonFields& inner) {
  if (error_.empty()) error_ = inner.error_;
}

std::optional<int64_t> JsonFields::whole(std::string_view name, int64_t most) {
  const std::optional<dom::element> found = find(name);
  if (!found) return std::nullopt;
  double number = 0;
  if (found->is_bool() || found->get_double().get(number) != simdjson::SUCCESS) {
    fail(name, fmt::format("must be a whole number, found {}", json_kind(*found)));
    return 1;
  }
  if (!(number >= 1 && number <= static_cast<double>(most)) || number != std::floor(number)) {
    fail(name, fmt::format("must be a whole number from 1 to {}, found {}", most, number));
    return 1;
  }
  return static_cast<int64_t>(number);
}

int64_t JsonFields::size(std::initializer_list<std::string_view> names, int64_t most) {
  for (const std::string_view name : names) {
    if (const std::optional<int64_t> number = whole(name, most)) return *number;
  }
  fail(*names.begin(), "is missing");
  return 1;
}

int64_t JsonFields::size_or(std::initializer_list<std::string_view> names, int64_t most,
                            int64_t fallback) {
  for (const std::string_view name : names) {
    if (const std::optional<int64_t> number = whole(name, most)) return *number;
  }
  return fallback;
}

int64_t JsonFields::size_unless(int64_t fallback, std::initializer_list<std::string_view> names,
                                int64_t most) {
  return fallback > 0 ? size_or(names, most, fallback) : size(names, most);
}

double JsonFields::real_or(std::string_view name, double fallback) {
  const std::optional<dom::element> found = find(name);
  double number = 0;
  if (!found) return fallback;
  if (found->get_double().get(number) == simdjson::SUCCESS) return number;
  fail(name, fmt::format("must be a number, found {}", json_kind(*found)));
  return fallback;
}

bool JsonFields::flag_or(std::string_view name, bool fallback) {
  const std::optional<dom::element> found = find(name);
  bool truth = false;
  if (!found) return fallback;
  if (found->get_bool().get(truth) == simdjson::SUCCESS) return truth;
  fail(name, fmt::format("must be true or false, found {}", json_kind(*found)));
  return fallback;
}

std::string JsonFields::text_or(std::string_view name, std::string fallback) {
  const std::optional<dom::element> found = find(name);
  std::string_view text;
  if (!found) return fallback;
  if (found->get_string().get(text) == simdjson::SUCCESS) return std::string(text);
  fail(name, fmt::format("must be a string, found {}", json_kind(*found)));
  return fallback;
}

int64_t JsonFields::length_of(std::string_view name) {
  const std::optional<dom::element> found = find(name);
  dom::array list;
  if (!found) return 0;
  if (found->get_array().get(list) == simdjson::SUCCESS) return static_cast<int64_t>(list.size());
  fail(name, fmt::format("must be a list, found {}", json_kind(*found)));
  return 0;
}

std::optional<JsonFields> JsonFields::inner(std::string_view name) {
  const std::optional<dom::element> found = find(name);
  dom::object object;
  if (!found) return std::nullopt;
  if (found->get_object().get(object) == simdjson::SUCCESS) {
    return JsonFields(object, file_, std::string(name));
  }
  fail(name, fmt::format("must be an object, found {}", json_kind(*found)));
  return std::nullopt;
}

}  // namespace plateau
