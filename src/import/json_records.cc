// SPDX-License-Identifier: Apache-2.0
#include "import/json_records.h"

namespace plateau {

size_t JsonRecords::key_number() {
  const auto found = keys_.find(path_);
  if (found != keys_.end()) return found->second;
  if (keys_.size() >= kMaxKeys) return RunBuilder::kNone;
  const size_t key = rows_.add_key(path_);
  keys_.emplace(path_, key);
  return key;
}

void JsonRecords::value(simdjson::dom::element element, int depth) {
  using Type = simdjson::dom::element_type;
  switch (element.type()) {
    case Type::OBJECT: {
      simdjson::dom::object inner;
      if (depth < kMaxDepth && element.get(inner) == simdjson::SUCCESS) flatten(inner, depth + 1);
      break;
    }
    case Type::INT64:
    case Type::UINT64:
    case Type::DOUBLE: {
      double number = 0;
      const size_t key = key_number();
      if (key != RunBuilder::kNone && element.get(number) == simdjson::SUCCESS) {
        rows_.number(key, number);
      }
      break;
    }
    case Type::STRING: {
      std::string_view text;
      const size_t key = key_number();
      if (key != RunBuilder::kNone && element.get(text) == simdjson::SUCCESS) {
        rows_.text(key, text);
      }
      break;
    }
    default:
      break;
  }
}

void JsonRecords::flatten(simdjson::dom::object object, int depth) {
  const size_t size = path_.size();
  for (const auto field : object) {
    if (!path_.empty()) path_.push_back('.');
    path_.append(field.key.substr(0, 200));
    value(field.value, depth);
    path_.resize(size);
  }
}

void JsonRecords::add(simdjson::dom::object object, size_t line) {
  path_.clear();
  rows_.begin(line);
  flatten(object, 0);
  rows_.end();
}

}  // namespace plateau
