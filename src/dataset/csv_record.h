// SPDX-License-Identifier: Apache-2.0
// Records of a dataset in CSV, whose quoted fields may hold line ends, and a record as the JSON
// object that a line of JSONL would be, so that one reader knows the forms.
//
// A quote opens a field only at its beginning, as pandas has it: 5" is text. Within a quoted field
// a doubled quote is one. Logs, which have a record in every line, are cut by import/csv_fields.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace plateau {

// Reads characters one by one: what each of them is.
class CsvScanner {
 public:
  enum class Is : uint8_t { content, quote, separator, end_of_record };

  explicit CsvScanner(char separator = ',') : separator_(separator) {}

  Is next(char letter);
  [[nodiscard]] bool is_quoted() const { return is_quoted_; }

 private:
  char separator_;
  bool is_quoted_ = false;
  bool is_fresh_ = true;     // At the beginning of a field.
  bool has_closed_ = false;  // Right behind a quote that closed one.
};

// The fields of one record, without their quotes.
std::vector<std::string> csv_fields(std::string_view record, char separator = ',');

// An empty field is null. JSON in a column of messages, conversations, images, image or history is
// taken as such; an answer may be JSON too, and is the text it is. Errors: another number of
// fields than the header has.
Result<std::string> csv_to_json(const std::vector<std::string>& header, std::string_view record,
                                char separator = ',');

}  // namespace plateau
