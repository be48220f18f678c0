// SPDX-License-Identifier: Apache-2.0
// JSON lines: one object a line, as structured loggers and metric writers produce them.
//
// Lines that do not start with '{' are other output and are passed over; a line that starts with
// '{' and does not parse is bad. Keys follow the rules of column names.
#include <simdjson.h>

#include <fmt/format.h>

#include <string>

#include "base/text.h"
#include "import/csv_fields.h"
#include "import/json_records.h"
#include "import/readers.h"

namespace plateau {

Result<Runs> read_json_lines(LineReader& lines) {
  RunBuilder builder("json lines");
  JsonRecords records(builder);
  simdjson::dom::parser parser;
  std::string padded;
  std::string_view line;
  while (lines.next(line)) {
    line = trim(without_bom(line));
    if (line.empty() || line.front() != '{') continue;
    // simdjson reads a few bytes past the end; the copy has room for that.
    padded.reserve(line.size() + simdjson::SIMDJSON_PADDING);
    padded.assign(line);
    simdjson::dom::object object;
    const auto failed = parser.parse(padded.data(), padded.size(), false).get(object);
    if (failed != simdjson::SUCCESS) {
      builder.bad(lines.number(), fmt::format("not JSON: '{}'", line.substr(0, 60)));
      continue;
    }
    records.add(object, lines.number());
  }
  return builder.finish(lines.number());
}

}  // namespace plateau
