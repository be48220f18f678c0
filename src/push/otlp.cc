// SPDX-License-Identifier: Apache-2.0
#include "push/otlp.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/json_writer.h"
#include "base/printable.h"
#include "base/version.h"

namespace plateau::push {
namespace {

void write_attribute(JsonWriter& json, const std::pair<std::string, std::string>& label) {
  const std::string text = printable(std::string_view(label.second).substr(0, kLongestLabel));
  json.begin_object().members("key", label.first, "value", json_object("stringValue", text));
  json.end_object();
}

void write_attributes(JsonWriter& json, const LabelList& labels) {
  json.key("attributes").value(json_list(labels, write_attribute));
}

void write_metric(JsonWriter& json, const MetricSample& sample, const std::string& time) {
  json.begin_object().members("name", sample.name).key("gauge").begin_object();
  json.key("dataPoints").begin_array().begin_object();
  write_attributes(json, sample.labels);
  json.members("timeUnixNano", time, "asDouble", sample.value);
  json.end_object().end_array().end_object().end_object();
}

}  // namespace

WriteRequest otlp_request(std::span<const MetricSample> samples, const LabelList& more,
                          int64_t at_ms) {
  constexpr int64_t kNanos = 1'000'000;
  const std::string time = fmt::format("{}", at_ms * kNanos);
  LabelList resource = {{"service.name", "plateau"}};
  for (const auto& label : more) {
    if (!label.second.empty()) resource.push_back(label);
  }
  WriteRequest request;
  JsonWriter json;
  json.begin_object().key("resourceMetrics").begin_array().begin_object();
  json.key("resource").begin_object();
  write_attributes(json, resource);
  json.end_object().key("scopeMetrics").begin_array().begin_object();
  json.members("scope", json_object("name", "plateau", "version", version()));
  json.key("metrics").begin_array();
  for (const MetricSample& sample : samples) {
    if (!std::isfinite(sample.value)) continue;
    write_metric(json, sample, time);
    ++request.series;
  }
  json.end_array().end_object().end_array().end_object().end_array().end_object();
  if (request.series > 0) request.body = json.take();
  return request;
}

}  // namespace plateau::push
