// SPDX-License-Identifier: Apache-2.0
#include "import/transposed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "import/cells.h"
#include "import/csv_fields.h"
#include "import/reading_parts.h"
#include "import/run_builder.h"
#include "import/unit_evidence.h"

namespace plateau {
namespace {

constexpr size_t kFewestTimes = 8;
constexpr size_t kMostRows = 4096;

struct Header {
  char separator = '\0';
  std::vector<size_t> columns;  // Those that are times,
  std::vector<Stamp> times;     // and what they say.
};

Header read_header(std::string_view line) {
  Header header;
  header.separator = guess_separator(line);
  if (header.separator == '\0') return header;
  CsvFields cutter(header.separator);
  const std::vector<std::string_view>& fields = cutter.cut(line);
  for (size_t i = 1; i < fields.size(); ++i) {
    const LogCell cell = read_cell(fields[i], {});
    if (!cell.has_time) continue;
    header.columns.push_back(i);
    header.times.push_back(cell.time);
  }
  if (header.times.size() < kFewestTimes || header.times.size() * 10 < (fields.size() - 1) * 7) {
    header.separator = '\0';
  }
  return header;
}

struct MemoryRow {
  std::string name;
  SlotName words;
  std::vector<double> values;  // By time; NaN where the cell is empty.
  bool with_unit = false;
};

bool read_row(std::string_view line, const Header& header, CsvFields& cutter, MemoryRow& row) {
  const std::vector<std::string_view>& fields = cutter.cut(line);
  if (fields.size() <= header.columns.front()) return false;
  row.name = trim(fields[0]);
  row.words = weigh_name(row.name);
  if (!row.words.memory || row.words.weight < kEnough - 1) return false;
  row.values.assign(header.columns.size(), kMissing);
  size_t found = 0;
  for (size_t i = 0; i < header.columns.size(); ++i) {
    if (header.columns[i] >= fields.size()) break;
    const LogCell cell = read_cell(fields[header.columns[i]], {});
    if (!cell.numeric || cell.number.value < 0) continue;
    row.with_unit |= cell.number.unit_mb > 0;
    row.values[i] = cell.number.value * (cell.number.unit_mb > 0 ? cell.number.unit_mb : 1);
    ++found;
  }
  return found >= 3;
}

double unit_of(const MemoryRow& row, RunBuilder& builder) {
  if (row.with_unit) return 1;
  if (row.words.unit_mb > 0) return row.words.unit_mb;
  std::vector<double> values;
  values.reserve(row.values.size());
  for (const double value : row.values) {
    if (!std::isnan(value)) values.push_back(value);
  }
  const double most = *std::max_element(values.begin(), values.end());
  // "RAM usage" between 0 and 100 with decimals, in a table of percentages.
  if (row.words.percent || most <= 100) {
    builder.note(
        fmt::format("'{}' is read as percent of a total that the log does not name: sizes "
                    "are shown as if it were 16 GB",
                    row.name));
    return kPercentMb;
  }
  UnitFound unit = unit_by_pages(values);
  if (unit.mb == 0) unit = unit_by_size(values);
  builder.note(fmt::format("'{}' names no unit: read as {} ({})", row.name, unit.name, unit.why));
  return unit.mb > 0 ? unit.mb : 1;
}

}  // namespace

bool looks_transposed(std::string_view head) {
  const size_t end = head.find_first_of("\r\n");
  if (end == std::string_view::npos) return false;
  const Header header = read_header(head.substr(0, end));
  if (header.separator == '\0') return false;
  CsvFields cutter(header.separator);
  MemoryRow row;
  for (std::string_view rest = head.substr(end); !rest.empty();) {
    if (read_row(trim(take_part(rest, '\n')), header, cutter, row)) return true;
  }
  return false;
}

Result<Runs> read_transposed(LineReader& lines) {
  RunBuilder builder("transposed table");
  std::string_view line;
  if (!lines.next(line)) return Runs{};
  const Header header = read_header(without_bom(line));
  if (header.separator == '\0') return Runs{};
  CsvFields cutter(header.separator);
  std::vector<MemoryRow> rows;
  double best = 0;
  while (lines.next(line) && rows.size() < kMostRows) {
    MemoryRow row;
    if (!read_row(line, header, cutter, row)) continue;
    best = std::max(best, row.words.weight);
    rows.push_back(std::move(row));
  }
  std::erase_if(rows, [best](const MemoryRow& row) { return row.words.weight < best; });
  std::vector<size_t> columns;
  columns.reserve(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const size_t process = builder.process(static_cast<int64_t>(i), false);
    if (rows.size() > 1) builder.describe(process, rows[i].name, -1);
    columns.push_back(builder.memory_column(process, rows[i].words.metric.value_or(Metric::memory),
                                            rows[i].name));
    const double unit = unit_of(rows[i], builder);
    for (double& value : rows[i].values) value *= unit;
  }
  for (size_t t = 0; t < header.times.size(); ++t) {
    builder.row({.step = -1, .time_s = builder.time_of(header.times[t]), .epoch = kMissing}, 1);
    for (size_t i = 0; i < rows.size(); ++i) builder.set_mb(columns[i], rows[i].values[t]);
  }
  return builder.finish(lines.number());
}

}  // namespace plateau
