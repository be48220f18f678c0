// SPDX-License-Identifier: Apache-2.0
// CSV, TSV and their kin with a header line: what each column is comes from its name.
//
// Lines before the header that are empty or start with '#' are skipped; a '#' before the header
// itself is taken off. The header repeated inside the file (files that were appended to) is no bad
// line and starts a new run only if the step goes back. A row with too few fields is bad.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/text.h"
#include "import/csv_fields.h"
#include "import/readers.h"
#include "import/record_rows.h"
#include "import/run_builder.h"

namespace plateau {
namespace {

bool is_skipped(std::string_view line) {
  line = trim(line);
  return line.empty() || (line.front() == '#' && guess_separator(line) == '\0');
}

// The header without decoration, empty if the input ends before one.
std::string read_header(LineReader& lines) {
  std::string_view line;
  while (lines.next(line)) {
    line = without_bom(line);
    if (is_skipped(line)) continue;
    line = trim(line);
    while (!line.empty() && (line.front() == '#' || line.front() == ' ')) line.remove_prefix(1);
    return std::string(line);
  }
  return "";
}

}  // namespace

Result<Runs> read_csv(LineReader& lines) {
  RunBuilder builder("csv", RunBuilder::Join::same_time);
  const std::string header = read_header(lines);
  const char separator = guess_separator(header);
  CsvFields cutter(separator == '\0' ? ',' : separator);
  RecordRows rows(builder);
  size_t columns = 0;
  for (const std::string_view name : cutter.cut(header)) {
    rows.add_key(name);
    if (++columns >= RunBuilder::kMaxColumns) break;
  }
  if (!rows.has_memory()) return Runs{};
  std::string_view line;
  while (lines.next(line)) {
    if (is_skipped(line) || line == header) continue;
    const auto& fields = cutter.cut(line);
    if (fields.size() < std::min<size_t>(columns, 2)) {
      builder.bad(lines.number(), fmt::format("too few fields in '{}'", line.substr(0, 60)));
      continue;
    }
    rows.begin(lines.number());
    for (size_t i = 0; i < std::min(columns, fields.size()); ++i) rows.text(i, fields[i]);
    rows.end();
  }
  return builder.finish(lines.number());
}

}  // namespace plateau
