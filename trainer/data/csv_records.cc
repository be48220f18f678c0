// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/csv_records.h"

#include <limits>
#include <utility>

namespace plateau::train {

void CsvFinder::close() {
  const uint64_t bytes = offset_ - begin_;
  if (!is_blank_) {
    places_.push_back(
        {.offset = begin_, .bytes = static_cast<uint32_t>(bytes), .line = begin_line_});
  }
}

std::optional<std::string> CsvFinder::add(std::span<const char> block) {
  for (const char c : block) {
    if (scanner_.next(c) != CsvScanner::Is::end_of_record) {
      is_blank_ = is_blank_ && (c == ' ' || c == '\r' || c == '\t' || c == '\n');
      line_ += c == '\n' ? 1 : 0;
      ++offset_;
      if (offset_ - begin_ > std::numeric_limits<uint32_t>::max()) {
        return "line " + std::to_string(begin_line_) + ": a record of more than 4 GiB";
      }
      continue;
    }
    close();
    begin_ = ++offset_;
    begin_line_ = ++line_;
    is_blank_ = true;
  }
  return std::nullopt;
}

std::optional<std::string> CsvFinder::finish() {
  if (scanner_.is_quoted()) {
    return "line " + std::to_string(begin_line_) + ": a quoted field is not closed";
  }
  close();
  return std::nullopt;
}

std::vector<RecordPlace> CsvFinder::take() {
  return std::move(places_);
}

}  // namespace plateau::train
