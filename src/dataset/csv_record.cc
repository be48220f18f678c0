// SPDX-License-Identifier: Apache-2.0
#include "dataset/csv_record.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>

#include "base/json_writer.h"
#include "base/text.h"

namespace plateau {
namespace {

constexpr std::array<std::string_view, 5> kListColumns = {"messages", "conversations", "images",
                                                          "image", "history"};

bool is_json(std::string_view column, std::string_view text) {
  if (std::ranges::find(kListColumns, column) == kListColumns.end()) return false;
  if (!text.starts_with('[') && !text.starts_with('{')) return false;
  simdjson::dom::parser parser;
  simdjson::dom::element element;
  return parser.parse(text.data(), text.size()).get(element) == simdjson::SUCCESS;
}

}  // namespace

CsvScanner::Is CsvScanner::next(char letter) {
  const bool has_closed = has_closed_;
  has_closed_ = false;
  if (is_quoted_) {
    if (letter != '"') return Is::content;
    is_quoted_ = false;
    has_closed_ = true;
    return Is::quote;
  }
  if (letter == '"' && (is_fresh_ || has_closed)) {
    is_quoted_ = true;
    is_fresh_ = false;
    return has_closed ? Is::content : Is::quote;
  }
  is_fresh_ = letter == separator_ || letter == '\n';
  if (letter == separator_) return Is::separator;
  return letter == '\n' ? Is::end_of_record : Is::content;
}

std::vector<std::string> csv_fields(std::string_view record, char separator) {
  if (record.ends_with('\r')) record.remove_suffix(1);
  CsvScanner scanner(separator);
  std::vector<std::string> out(1);
  for (const char letter : record) {
    const CsvScanner::Is is = scanner.next(letter);
    if (is == CsvScanner::Is::content) out.back() += letter;
    if (is == CsvScanner::Is::separator) out.emplace_back();
  }
  return out;
}

Result<std::string> csv_to_json(const std::vector<std::string>& header, std::string_view record,
                                char separator) {
  const std::vector<std::string> fields = csv_fields(record, separator);
  if (fields.size() != header.size()) {
    return Error{Error::Kind::bad_input,
                 fmt::format("{} fields are expected, as in the header, found {}", header.size(),
                             fields.size())};
  }
  JsonWriter json;
  json.begin_object();
  for (size_t i = 0; i < fields.size(); ++i) {
    const std::string_view column = trim(header[i]);
    json.key(column);
    if (fields[i].empty()) {
      json.null();
    } else if (is_json(column, fields[i])) {
      json.embed(fields[i]);
    } else {
      json.value(fields[i]);
    }
  }
  return json.end_object().take();
}

}  // namespace plateau
