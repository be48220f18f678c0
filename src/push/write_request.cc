// SPDX-License-Identifier: Apache-2.0
#include "push/write_request.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/printable.h"
#include "base/proto_message.h"
#include "base/text.h"

namespace plateau::push {
namespace {

constexpr uint32_t kTimeSeries = 1;
constexpr uint32_t kLabels = 1;
constexpr uint32_t kSamples = 2;
constexpr uint32_t kName = 1;
constexpr uint32_t kText = 2;
constexpr uint32_t kValue = 1;
constexpr uint32_t kTimestamp = 2;

}  // namespace

bool is_label_name(std::string_view name) {
  if (name.empty() || is_digit(name.front()) || name.starts_with("__")) return false;
  return std::ranges::all_of(name, [](char c) { return is_letter(c) || is_digit(c) || c == '_'; });
}

WriteRequest write_request(std::span<const MetricSample> samples, const LabelList& more,
                           int64_t at_ms) {
  WriteRequest request;
  ProtoMessage all;
  for (const MetricSample& sample : samples) {
    if (!std::isfinite(sample.value)) continue;
    std::map<std::string, std::string> labels = {{"__name__", sample.name}};
    for (const LabelList* list : {&sample.labels, &more}) {
      for (const auto& [name, value] : *list) {
        if (!value.empty()) labels.emplace(name, printable(value.substr(0, kLongestLabel)));
      }
    }
    ProtoMessage series;
    for (const auto& [name, value] : labels) {
      series.message(kLabels, ProtoMessage().bytes(kName, name).bytes(kText, value));
    }
    series.message(
        kSamples,
        ProtoMessage().real(kValue, sample.value).number(kTimestamp, static_cast<uint64_t>(at_ms)));
    all.message(kTimeSeries, series);
    ++request.series;
  }
  request.body = all.text();
  return request;
}

}  // namespace plateau::push
