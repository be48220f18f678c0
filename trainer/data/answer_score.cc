// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/answer_score.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <map>
#include <optional>
#include <string>

#include "base/text.h"

namespace plateau::train {
namespace {

using Fields = std::map<std::string, std::string>;  // A path, and the value with its type.

std::string value_text(const simdjson::dom::element& value) {
  switch (value.type()) {
    case simdjson::dom::element_type::STRING:
      return fmt::format("text {}", std::string_view(value));
    case simdjson::dom::element_type::BOOL:
      return bool(value) ? "true" : "false";
    case simdjson::dom::element_type::NULL_VALUE:
      return "null";
    case simdjson::dom::element_type::ARRAY:
      return "[]";
    case simdjson::dom::element_type::OBJECT:
      return "{}";
    default:
      return fmt::format("number {}", double(value));
  }
}

// Simdjson refuses what is nested deeper than 1024, so this ends.
void collect(const simdjson::dom::element& value, const std::string& path, Fields& out) {
  if (value.is_object() && simdjson::dom::object(value).size() > 0) {
    for (const auto& [key, inner] : simdjson::dom::object(value)) {
      collect(inner, fmt::format("{}/{}", path, key), out);
    }
  } else if (value.is_array() && simdjson::dom::array(value).size() > 0) {
    size_t index = 0;
    for (const auto inner : simdjson::dom::array(value)) {
      collect(inner, fmt::format("{}/{}", path, index++), out);
    }
  } else {
    out.insert_or_assign(path, value_text(value));
  }
}

// Nothing if the text is no JSON object or array.
std::optional<Fields> fields_of(std::string_view text) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  const simdjson::padded_string padded(text);
  if (parser.parse(padded).get(root) != simdjson::SUCCESS) return std::nullopt;
  if (!root.is_object() && !root.is_array()) return std::nullopt;
  Fields out;
  collect(root, "", out);
  return out;
}

double share(int64_t part, int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

}  // namespace

AnswerScore& AnswerScore::operator+=(const AnswerScore& other) {
  asked += other.asked;
  exact += other.exact;
  json_expected += other.json_expected;
  json_valid += other.json_valid;
  fields += other.fields;
  fields_right += other.fields_right;
  fields_extra += other.fields_extra;
  return *this;
}

double AnswerScore::exact_match() const {
  return share(exact, asked);
}
double AnswerScore::json_validity() const {
  return share(json_valid, json_expected);
}
double AnswerScore::field_accuracy() const {
  return share(fields_right, fields);
}

AnswerScore score_answer(std::string_view answer, std::string_view expected) {
  AnswerScore out{.asked = 1, .exact = trim(answer) == trim(expected) ? 1 : 0};
  const std::optional<Fields> wanted = fields_of(expected);
  if (!wanted) return out;
  out.json_expected = 1;
  out.fields = static_cast<int64_t>(wanted->size());
  const std::optional<Fields> given = fields_of(answer);
  if (!given) return out;
  out.json_valid = 1;
  for (const auto& [path, value] : *given) {
    const auto found = wanted->find(path);
    if (found == wanted->end()) {
      ++out.fields_extra;
    } else if (found->second == value) {
      ++out.fields_right;
    }
  }
  return out;
}

}  // namespace plateau::train
