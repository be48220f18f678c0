// SPDX-License-Identifier: Apache-2.0
#include "fleet/query_answer.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cmath>

#include "base/printable.h"
#include "base/text.h"

namespace plateau::fleet {
namespace {

using simdjson::SUCCESS;
namespace dom = simdjson::dom;

constexpr size_t kQuoted = 200;       // Of somebody else's words.
constexpr size_t kMostWarnings = 20;  // More of them say nothing more.

std::string quoted(std::string_view text) {
  std::string shown = printable(text.substr(0, 4 * kQuoted));
  if (shown.size() > kQuoted) shown = printable(std::string_view(shown).substr(0, kQuoted));
  return shown;
}

Labels read_labels(dom::object object) {
  std::vector<std::pair<std::string, std::string>> pairs;
  pairs.reserve(object.size());
  for (const auto label : object) {
    std::string_view value;
    if (label.value.get(value) == SUCCESS) pairs.emplace_back(label.key, value);
  }
  return Labels(std::move(pairs));
}

// [1700000000.5, "123"]; some databases write the value as a number, or null for a gap.
bool read_sample(dom::element element, RawSeries& series) {
  dom::array pair;
  Sample sample;
  if (element.get(pair) != SUCCESS) return false;
  auto part = pair.begin();
  if (part == pair.end() || (*part).get(sample.at_s) != SUCCESS) return false;
  ++part;
  if (part == pair.end()) return false;
  const dom::element value = *part;
  std::string_view text;
  if (value.is_null()) return true;
  if (value.get(text) == SUCCESS) {
    const std::optional<double> number = parse_double(text);
    if (!number) return false;
    sample.value = *number;
  } else if (value.get(sample.value) != SUCCESS) {
    return false;
  }
  if (std::isfinite(sample.value) && std::isfinite(sample.at_s)) series.samples.push_back(sample);
  return true;
}

void put_in_order(std::vector<Sample>& samples) {
  const auto earlier = [](const Sample& a, const Sample& b) { return a.at_s < b.at_s; };
  if (!std::is_sorted(samples.begin(), samples.end(), earlier)) {
    std::stable_sort(samples.begin(), samples.end(), earlier);
  }
  const auto same = [](const Sample& a, const Sample& b) { return a.at_s == b.at_s; };
  samples.erase(std::unique(samples.begin(), samples.end(), same), samples.end());
}

void read_result(dom::object result, QueryAnswer& answer) {
  RawSeries series;
  dom::object labels;
  if (result["metric"].get(labels) == SUCCESS) series.labels = read_labels(labels);
  dom::array values;
  dom::element value;
  if (result["values"].get(values) == SUCCESS) {
    series.samples.reserve(values.size());
    for (const dom::element each : values) answer.bad_samples += !read_sample(each, series);
  } else if (result["value"].get(value) == SUCCESS) {
    answer.bad_samples += !read_sample(value, series);
  }
  put_in_order(series.samples);
  answer.series.push_back(std::move(series));
}

void read_warnings(dom::object document, QueryAnswer& answer) {
  dom::array warnings;
  if (document["warnings"].get(warnings) != SUCCESS) return;
  for (const dom::element each : warnings) {
    std::string_view text;
    if (answer.warnings.size() < kMostWarnings && each.get(text) == SUCCESS) {
      answer.warnings.push_back(quoted(text));
    }
  }
}

std::optional<Error> read_data(dom::object document, QueryAnswer& answer) {
  dom::array sets;
  if (document["data"].get(sets) == SUCCESS) {
    for (const dom::element each : sets) {
      dom::object labels;
      if (each.get(labels) == SUCCESS) answer.series.push_back({read_labels(labels), {}});
    }
    return std::nullopt;
  }
  dom::array results;
  if (document["data"]["result"].get(results) != SUCCESS) {
    return Error{Error::Kind::bad_input, "an answer without a list of results"};
  }
  std::string_view type;
  if (document["data"]["resultType"].get(type) == SUCCESS && type != "matrix" && type != "vector") {
    return Error{Error::Kind::bad_input,
                 fmt::format("a result of type '{}' instead of series", quoted(type))};
  }
  answer.series.reserve(results.size());
  for (const dom::element each : results) {
    dom::object result;
    if (each.get(result) == SUCCESS) read_result(result, answer);
  }
  return std::nullopt;
}

}  // namespace

size_t QueryAnswer::samples() const {
  size_t count = 0;
  for (const RawSeries& each : series) count += each.samples.size();
  return count;
}

std::string refusal_text(std::string_view body) {
  dom::parser parser;
  dom::object document;
  std::string_view text;
  if (parser.parse(body.data(), body.size()).get(document) == SUCCESS &&
      document["error"].get(text) == SUCCESS) {
    return quoted(text);
  }
  return quoted(trim(body));
}

Result<QueryAnswer> read_answer(std::string_view body) {
  dom::parser parser;
  dom::object document;
  if (parser.parse(body.data(), body.size()).get(document) != SUCCESS) {
    return Error{Error::Kind::bad_input, fmt::format("an answer that is no JSON object ('{}')",
                                                     quoted(body.substr(0, 60)))};
  }
  std::string_view status;
  if (document["status"].get(status) != SUCCESS || status != "success") {
    return Error{Error::Kind::bad_input, fmt::format("an error: {}", refusal_text(body))};
  }
  QueryAnswer answer;
  read_warnings(document, answer);
  if (std::optional<Error> error = read_data(document, answer)) return *error;
  return answer;
}

}  // namespace plateau::fleet
