// SPDX-License-Identifier: Apache-2.0
// A reading, told to its user.
#include <fmt/format.h>

#include "import/mined_log.h"

namespace plateau {

std::vector<std::string> describe_reading(const Reading& reading) {
  std::vector<std::string> out;
  if (reading.transposed) return {"a table in which time runs to the right"};
  const auto title = [&reading](uint32_t column) {
    const std::string& name = reading.layout->columns().name(column);
    return name.empty() ? std::string("a number without a name") : fmt::format("'{}'", name);
  };
  out.push_back(fmt::format("layout: {}", reading.layout->describe()));
  out.push_back(fmt::format("memory: {} ({}), weight {:.1f}{}", title(reading.memory[0].column),
                            metric_name(reading.memory[0].metric), reading.weight,
                            reading.sure ? "" : ", not sure"));
  for (size_t i = 1; i < reading.memory.size(); ++i) {
    out.push_back(fmt::format("also: {} ({})", title(reading.memory[i].column),
                              metric_name(reading.memory[i].metric)));
  }
  if (reading.step_column != kNoColumn) {
    out.push_back(fmt::format("step: {}{}", title(reading.step_column),
                              reading.carried_step ? ", the last one seen" : ""));
  }
  if (reading.stamps || reading.time_column != kNoColumn) {
    out.push_back(fmt::format(
        "time: {}{}",
        reading.stamps ? std::string("as written in the lines") : title(reading.time_column),
        reading.carried_time ? ", the last one seen" : ""));
  }
  if (reading.step_column == kNoColumn && !reading.stamps && reading.time_column == kNoColumn) {
    out.emplace_back("clock: none; readings are numbered");
  }
  switch (reading.series) {
    case SeriesBy::nothing:
      out.emplace_back("series: one");
      break;
    case SeriesBy::prefix:
      out.emplace_back("series: by what stands before each line");
      break;
    case SeriesBy::column:
      out.push_back(fmt::format("series: by {}", title(reading.series_column)));
      break;
    case SeriesBy::occurrence:
      out.emplace_back("series: by their order at each step");
      break;
    case SeriesBy::title:
      out.emplace_back("series: one for each column of that kind");
      break;
  }
  return out;
}

}  // namespace plateau
