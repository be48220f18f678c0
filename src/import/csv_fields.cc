// SPDX-License-Identifier: Apache-2.0
#include "import/csv_fields.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"

namespace plateau {

// Reads a field whose opening quote is at `at`; returns where the field ends (a separator or the
// end of the line). The buffer was reserved for the whole line, so views into it stay valid.
size_t CsvFields::quoted_field(std::string_view line, size_t at) {
  const size_t from = unescaped_.size();
  const size_t close = line.find('"', at + 1);
  if (close != std::string_view::npos && line.substr(close, 2) != "\"\"") {
    fields_.push_back(line.substr(at + 1, close - at - 1));
    return std::min(line.find(separator_, close), line.size());
  }
  for (++at; at < line.size(); ++at) {
    if (line[at] == '"') {
      if (at + 1 >= line.size() || line[at + 1] != '"') break;
      ++at;
    }
    unescaped_.push_back(line[at]);
  }
  fields_.emplace_back(unescaped_.data() + from, unescaped_.size() - from);
  return std::min(line.find(separator_, std::min(at, line.size())), line.size());
}

const std::vector<std::string_view>& CsvFields::cut(std::string_view line) {
  fields_.clear();
  unescaped_.clear();
  const bool quotes = line.find('"') != std::string_view::npos;
  if (quotes) unescaped_.reserve(line.size());
  for (size_t at = 0;;) {
    size_t start = at;
    while (start < line.size() && line[start] == ' ') ++start;
    size_t end = 0;
    if (quotes && start < line.size() && line[start] == '"') {
      end = quoted_field(line, start);
    } else {
      end = std::min(line.find(separator_, at), line.size());
      fields_.push_back(trim(line.substr(at, end - at)));
    }
    if (end >= line.size()) break;
    at = end + 1;
  }
  return fields_;
}

char guess_separator(std::string_view header) {
  char best = '\0';
  std::ptrdiff_t most = 0;
  for (const char candidate : {',', '\t', ';', '|'}) {
    const std::ptrdiff_t count = std::count(header.begin(), header.end(), candidate);
    if (count > most) {
      most = count;
      best = candidate;
    }
  }
  return best;
}

std::string_view without_bom(std::string_view line) {
  if (line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
  return line;
}

}  // namespace plateau
