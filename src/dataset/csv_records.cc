// SPDX-License-Identifier: Apache-2.0
#include "dataset/csv_records.h"

#include <fmt/format.h>

#include <vector>

namespace plateau {
namespace {

// Takes one row off the front of `rest`; counts the lines it spans. False: a quote is never closed.
bool take_row(std::string_view& rest, char separator, std::vector<std::string>& fields,
              size_t& lines) {
  fields.assign(1, "");
  bool is_quoted = false;
  size_t at = 0;
  for (; at < rest.size(); ++at) {
    const char letter = rest[at];
    if (is_quoted) {
      if (letter == '\n') ++lines;
      if (letter != '"') {
        fields.back() += letter;
      } else if (at + 1 < rest.size() && rest[at + 1] == '"') {
        fields.back() += rest[++at];
      } else {
        is_quoted = false;
      }
    } else if (letter == '"' && fields.back().empty()) {
      is_quoted = true;
    } else if (letter == separator) {
      fields.emplace_back();
    } else if (letter == '\n') {
      break;
    } else if (letter != '\r') {
      fields.back() += letter;
    }
  }
  ++lines;
  rest.remove_prefix(at < rest.size() ? at + 1 : at);
  return !is_quoted;
}

}  // namespace

Result<void> each_csv_row(std::string_view text, char separator, const OnCsvRow& row) {
  std::vector<std::string> header;
  std::vector<std::string> fields;
  size_t line = 0;
  if (!take_row(text, separator, header, line))
    return Error{Error::Kind::bad_input, "a quote in the header is never closed"};
  while (!text.empty()) {
    const size_t begin = line + 1;
    if (!take_row(text, separator, fields, line)) {
      return Error{Error::Kind::bad_input, fmt::format("line {}: a quote is never closed", begin)};
    }
    if (fields.size() == 1 && fields[0].empty()) continue;
    if (fields.size() != header.size()) {
      return Error{Error::Kind::bad_input, fmt::format("line {}: {} fields, the header has {}",
                                                       begin, fields.size(), header.size())};
    }
    JsonWriter json;
    json.begin_object();
    for (size_t i = 0; i < fields.size(); ++i) {
      // A list or an object that was written into a cell, as pandas does.
      const bool is_json = fields[i].starts_with("[{") || fields[i].starts_with("[\"");
      json.key(header[i]);
      if (is_json) {
        json.embed(fields[i]);
      } else if (fields[i].empty()) {
        json.null();
      } else {
        json.value(fields[i]);
      }
    }
    if (!row(begin, json.end_object().take())) break;
  }
  return {};
}

}  // namespace plateau
