// SPDX-License-Identifier: Apache-2.0
#include "dataset/csv_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "dataset/csv_record.h"

namespace plateau {
namespace {

// Takes one record off the front of `rest`, with its line end; counts the lines it spans. False: a
// quote is never closed.
bool take_record(std::string_view& rest, char separator, std::string_view& record, size_t& lines) {
  CsvScanner scanner(separator);
  size_t at = 0;
  while (at < rest.size() && scanner.next(rest[at]) != CsvScanner::Is::end_of_record) ++at;
  record = rest.substr(0, at);
  lines += 1 + static_cast<size_t>(std::count(record.begin(), record.end(), '\n'));
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return !scanner.is_quoted();
}

}  // namespace

Result<void> each_csv_row(std::string_view text, char separator, const OnCsvRow& row) {
  std::string_view record;
  size_t line = 0;
  if (!take_record(text, separator, record, line))
    return Error{Error::Kind::bad_input, "a quote in the header is never closed"};
  const std::vector<std::string> header = csv_fields(record, separator);
  while (!text.empty()) {
    const size_t begin = line + 1;
    if (!take_record(text, separator, record, line)) {
      return Error{Error::Kind::bad_input, fmt::format("line {}: a quote is never closed", begin)};
    }
    if (trim(record).empty()) continue;
    if (!row(begin, csv_to_json(header, record, separator))) break;
  }
  return {};
}

}  // namespace plateau
