// SPDX-License-Identifier: Apache-2.0
// MLflow's metric files: one file per metric, named like it, with lines "1700000000000 5123.4 17":
// milliseconds since 1970, the value, the step.
//
// The metrics of the folder system/ are samples of the machine, whose step only counts them; so
// they go by their time. Their units are whole words: system_memory_usage_megabytes is of 1e6
// bytes, gpu_0_memory_usage_gigabytes of 1e9.
#include <fmt/format.h>

#include <cmath>
#include <string>

#include "base/text.h"
#include "import/figure_sources.h"

namespace plateau {
namespace {

constexpr std::string_view kSystem = "system/";

struct Line {
  double time_s = kMissing;
  double value = kMissing;
  int64_t step = -1;
};

bool read_line(std::string_view line, Line& read) {
  const auto milliseconds = parse_double(next_word(line));
  const auto value = parse_double(next_word(line));
  if (!milliseconds || !value || !std::isfinite(*milliseconds)) return false;
  read.time_s = *milliseconds * 1e-3;
  read.value = *value;
  read.step = parse_int(next_word(line)).value_or(-1);
  return true;
}

// "gpu_0_memory_usage_megabytes" -> "gpu_0_memory_usage_mb".
std::string with_short_unit(std::string_view name) {
  for (const auto& [spelled, unit] :
       {std::pair{"megabytes", "mb"}, {"gigabytes", "gb"}, {"kilobytes", "kb"}}) {
    if (name.ends_with(spelled)) {
      return std::string(name.substr(0, name.size() - std::string_view(spelled).size())) + unit;
    }
  }
  return std::string(name);
}

ColumnRole role_of_metric(std::string_view name) {
  if (name.ends_with("percentage")) return {};
  ColumnRole role = role_of_figure(with_short_unit(name));
  role.label = name;
  return role;
}

}  // namespace

bool looks_like_mlflow_metric(std::string_view first_line) {
  Line line;
  return read_line(first_line, line) && line.time_s > 1e9 && line.time_s < 5e9;
}

FigureAccount add_mlflow_metric(LineReader& input, std::string_view name, FigureTable& table) {
  FigureAccount account;
  const bool samples_machine = name.starts_with(kSystem);
  const size_t figure = table.figure(name, role_of_metric);
  if (figure == FigureTable::kNotMemory) return account;
  std::string_view text;
  size_t bad = 0;
  while (input.next(text)) {
    if (trim(text).empty()) continue;
    ++account.records;
    Line line;
    if (read_line(text, line)) {
      table.add(figure, line.time_s, samples_machine ? -1 : line.step, line.value);
    } else {
      ++bad;
    }
  }
  if (bad > 0)
    account.trouble =
        fmt::format("{} of {} lines of {} are none of MLflow's", bad, account.records, name);
  return account;
}

void add_mlflow_clock(LineReader& input, FigureTable& table) {
  std::string_view text;
  Line line;
  while (input.next(text)) {
    if (read_line(text, line)) table.clock(line.time_s, line.step);
  }
}

Result<Runs> read_mlflow_metric(LineReader& input) {
  FigureTable table;
  return runs_of(table, add_mlflow_metric(input, "memory", table), kMlflow);
}

}  // namespace plateau
