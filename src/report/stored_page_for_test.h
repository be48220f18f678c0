// SPDX-License-Identifier: Apache-2.0
// For tests: a report's stored pages, and its lines held to a width.
#pragma once

#include <sstream>
#include <string>

#include "base/stored_page_for_test.h"
#include "report/text.h"

namespace plateau {

// The page of a report: `name` stands for tests/golden/report/NAME.txt.
inline void expect_page(const std::string& name, const std::string& text) {
  expect_stored_page("report/" + name + ".txt", text);
}

// No line of `text` takes more than `width` columns of a terminal.
inline void expect_narrow(const std::string& text, size_t width) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(display_width(line), width) << line;
  }
}

}  // namespace plateau
