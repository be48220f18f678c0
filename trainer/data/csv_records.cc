// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/csv_records.h"

#include <simdjson.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/json_writer.h"
#include "base/text.h"

namespace plateau::train {
namespace {

// An answer may be JSON too, and is learned as the text it is.
bool is_json(std::string_view column, std::string_view text) {
  constexpr std::string_view kLists[] = {"messages", "conversations", "images", "image", "history"};
  if (std::ranges::find(kLists, column) == std::end(kLists)) return false;
  if (!text.starts_with('[') && !text.starts_with('{')) return false;
  simdjson::dom::parser parser;
  simdjson::dom::element element;
  return parser.parse(text.data(), text.size()).get(element) == simdjson::SUCCESS;
}

}  // namespace

void CsvFinder::close() {
  const uint64_t bytes = offset_ - begin_;
  if (!is_blank_) {
    places_.push_back(
        {.offset = begin_, .bytes = static_cast<uint32_t>(bytes), .line = begin_line_});
  }
}

std::optional<std::string> CsvFinder::add(std::span<const char> block) {
  for (const char c : block) {
    // A quote within a quoted field is doubled: it closes and opens.
    if (c == '"') is_quoted_ = !is_quoted_;
    if (c != '\n' || is_quoted_) {
      is_blank_ = is_blank_ && (c == ' ' || c == '\r' || c == '\t' || c == '\n');
      line_ += c == '\n' ? 1 : 0;
      ++offset_;
      if (offset_ - begin_ > std::numeric_limits<uint32_t>::max()) {
        return "line " + std::to_string(begin_line_) + ": a record of more than 4 GiB";
      }
      continue;
    }
    close();
    begin_ = ++offset_;
    begin_line_ = ++line_;
    is_blank_ = true;
  }
  return std::nullopt;
}

std::optional<std::string> CsvFinder::finish() {
  if (is_quoted_) {
    return "line " + std::to_string(begin_line_) + ": a quoted field is not closed";
  }
  close();
  return std::nullopt;
}

std::vector<RecordPlace> CsvFinder::take() {
  return std::move(places_);
}

std::vector<std::string> csv_fields(std::string_view record) {
  if (record.ends_with('\r')) record.remove_suffix(1);
  std::vector<std::string> out(1);
  bool is_quoted = false;
  for (size_t i = 0; i < record.size(); ++i) {
    const char c = record[i];
    if (c == '"' && is_quoted && i + 1 < record.size() && record[i + 1] == '"') {
      out.back() += record[++i];
    } else if (c == '"') {
      is_quoted = !is_quoted;
    } else if (c == ',' && !is_quoted) {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

Result<std::string> csv_to_json(const std::vector<std::string>& header, std::string_view record) {
  const std::vector<std::string> fields = csv_fields(record);
  if (fields.size() != header.size()) {
    return Error{Error::Kind::bad_input, std::to_string(header.size()) +
                                             " fields are expected, as in the header, found " +
                                             std::to_string(fields.size())};
  }
  std::string out = "{";
  for (size_t i = 0; i < fields.size(); ++i) {
    JsonWriter name;
    name.value(trim(header[i]));
    out += (i == 0 ? "" : ",") + name.take() + ":";
    if (fields[i].empty()) {
      out += "null";
    } else if (is_json(trim(header[i]), fields[i])) {
      out += fields[i];
    } else {
      JsonWriter value;
      value.value(fields[i]);
      out += value.take();
    }
  }
  return out + "}";
}

}  // namespace plateau::train
