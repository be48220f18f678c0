// SPDX-License-Identifier: Apache-2.0
// Cuts one CSV line into fields: comma, tab, semicolon or bar; quotes with "" inside.
//
// Fields are views into the line, except quoted ones with doubled quotes, which are unescaped into
// the cutter's own buffer; all are valid until the next cut(). A quoted field ends with its line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plateau {

class CsvFields {
 public:
  explicit CsvFields(char separator) : separator_(separator) {}

  const std::vector<std::string_view>& cut(std::string_view line);

 private:
  size_t quoted_field(std::string_view line, size_t at);

  char separator_;
  std::vector<std::string_view> fields_;
  std::string unescaped_;
};

// The separator that cuts `header` into the most fields; '\0' if none does.
char guess_separator(std::string_view header);

// Without a UTF-8 byte order mark.
std::string_view without_bom(std::string_view line);

}  // namespace plateau
