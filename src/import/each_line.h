// SPDX-License-Identifier: Apache-2.0
// The driver of formats that are read line by line into one builder.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "import/readers.h"
#include "import/run_builder.h"

namespace plateau {

// Makes a Reader of the builder and hands it each line with its number: line(text, number).
template <typename Reader>
Result<Runs> read_each_line(LineReader& lines, std::string format,
                            RunBuilder::Join join = RunBuilder::Join::same_step) {
  RunBuilder builder(std::move(format), join);
  Reader reader(builder);
  std::string_view line;
  while (lines.next(line)) reader.line(line, lines.number());
  return builder.finish(lines.number());
}

}  // namespace plateau
