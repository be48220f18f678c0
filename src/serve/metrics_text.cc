// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "base/text.h"
#include "base/utf8.h"
#include "serve/metrics.h"

namespace plateau {
namespace {

std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

std::string_view type_word(MetricsSink::Type type, Dialect dialect) {
  using Type = MetricsSink::Type;
  if (type == Type::counter) return "counter";
  if (type == Type::gauge || dialect == Dialect::prometheus_text) return "gauge";
  return type == Type::info ? "info" : "stateset";
}

std::string_view suffix_of(MetricsSink::Type type) {
  if (type == MetricsSink::Type::counter) return "_total";
  return type == MetricsSink::Type::info ? "_info" : "";
}

// The weight of a range of an Accept header: its q, 1 if it has none, 0 if that cannot be read.
double weight_of(std::string_view parameters) {
  while (!parameters.empty()) {
    std::string_view parameter = trim(take_part(parameters, ';'));
    const std::string_view name = trim(take_part(parameter, '='));
    if (!equal_ignoring_case(name, "q")) continue;
    const double weight = parse_double(parameter).value_or(0);
    return weight > 0 && weight <= 1 ? weight : 0;
  }
  return 1;
}

}  // namespace

Dialect dialect_for(std::string_view accept) {
  double open = 0;
  double text = 0;
  while (!accept.empty()) {
    std::string_view range = trim(take_part(accept, ','));
    const std::string_view name = trim(take_part(range, ';'));
    const double weight = weight_of(range);
    if (equal_ignoring_case(name, "application/openmetrics-text")) open = std::max(open, weight);
    if (equal_ignoring_case(name, "text/plain")) text = std::max(text, weight);
  }
  return open > 0 && open >= text ? Dialect::open_metrics : Dialect::prometheus_text;
}

std::string_view content_type_of(Dialect dialect) {
  return dialect == Dialect::open_metrics
             ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
             : "text/plain; version=0.0.4; charset=utf-8";
}

std::string escaped_label(std::string_view text) {
  std::string escaped;
  while (!text.empty()) {
    const CodePoint point = decode_utf8(text);
    text.remove_prefix(point.bytes);
    const bool control = point.value < 0x20 || point.value == 0x7f;
    if (point.value == '\n') {
      escaped += "\\n";
      continue;
    }
    if (point.value == '\\' || point.value == '"') escaped += '\\';
    // Readers disagree on the other control characters; some take a zero for the end.
    append_utf8(escaped, control ? kReplacementCharacter : point.value);
  }
  return escaped;
}

void MetricsText::family(std::string_view name, Type type, std::string_view unit,
                         std::string_view help) {
  const bool open = dialect_ == Dialect::open_metrics;
  sample_name_ = fmt::format("{}{}", name, suffix_of(type));
  const std::string headed = open ? std::string(name) : sample_name_;
  families_.emplace_back();
  std::string& head = families_.back().head;
  head =
      fmt::format("# HELP {} {}\n# TYPE {} {}\n", headed, help, headed, type_word(type, dialect_));
  if (open && !unit.empty()) head += fmt::format("# UNIT {} {}\n", headed, unit);
}

void MetricsText::sample(const Labels& labels, double value) {
  std::string& lines = families_.back().lines;
  lines += sample_name_;
  char before = '{';
  for (const auto& [name, label] : labels) {
    lines += fmt::format("{}{}=\"{}\"", before, name, escaped_label(label));
    before = ',';
  }
  if (!labels.empty()) lines += '}';
  lines += ' ' + number_text(value) + '\n';
}

void MetricsList::family(std::string_view name, Type type, std::string_view /*unit*/,
                         std::string_view /*help*/) {
  name_ = fmt::format("{}{}", name, suffix_of(type));
}

void MetricsList::sample(const Labels& labels, double value) {
  MetricSample& told = samples.emplace_back(MetricSample{name_, {}, value});
  for (const auto& [name, label] : labels) {
    if (!label.empty()) told.labels.emplace_back(name, label);
  }
}

std::string joined(std::span<const MetricsText* const> texts) {
  std::string all;
  const size_t count = texts.empty() ? 0 : texts.front()->families_.size();
  for (size_t family = 0; family < count; ++family) {
    bool headed = false;
    for (const MetricsText* text : texts) {
      const MetricsText::Family& part = text->families_[family];
      if (part.lines.empty()) continue;
      if (!headed) all += part.head;
      headed = true;
      all += part.lines;
    }
  }
  return all;
}

}  // namespace plateau
