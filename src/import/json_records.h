// SPDX-License-Identifier: Apache-2.0
// JSON objects into RecordRows: nested keys are flattened with '.', arrays are left out.
#pragma once

#include <simdjson.h>

#include <string>
#include <unordered_map>

#include "import/record_rows.h"

namespace plateau {

class JsonRecords {
 public:
  explicit JsonRecords(RunBuilder& builder) : rows_(builder) {}

  // One object as one record at `line`.
  void add(simdjson::dom::object object, size_t line);

 private:
  static constexpr size_t kMaxKeys = 4096;  // Keys past it are ignored: they cannot be columns.
  static constexpr int kMaxDepth = 8;

  void flatten(simdjson::dom::object object, int depth);
  void value(simdjson::dom::element element, int depth);
  size_t key_number();

  RecordRows rows_;
  std::unordered_map<std::string, size_t> keys_;
  std::string path_;
};

}  // namespace plateau
