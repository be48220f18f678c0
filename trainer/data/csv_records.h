// SPDX-License-Identifier: Apache-2.0
// A dataset as CSV: where its records lie, and a record as the JSON object that a line of JSONL
// would be, so that one reader knows the forms.
//
// The first record names the fields. Quotes as in RFC 4180: a quoted field may hold commas, line
// ends and doubled quotes. An empty field is null; JSON in a column of messages,
// conversations, images or history is taken as such; every other field is a string.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trainer/data/record_places.h"

namespace plateau::train {

class CsvFinder {
 public:
  // As RecordFinder: what is wrong, with its line.
  std::optional<std::string> add(std::span<const char> block);
  std::optional<std::string> finish();
  // The header among them.
  std::vector<RecordPlace> take();

 private:
  void close();

  uint64_t begin_ = 0;
  uint64_t offset_ = 0;
  uint32_t line_ = 1;
  uint32_t begin_line_ = 1;
  bool is_quoted_ = false;
  bool is_blank_ = true;
  std::vector<RecordPlace> places_;
};

// The fields of one record, without their quotes.
std::vector<std::string> csv_fields(std::string_view record);
// Errors: another number of fields than the header has.
Result<std::string> csv_to_json(const std::vector<std::string>& header, std::string_view record);

}  // namespace plateau::train
