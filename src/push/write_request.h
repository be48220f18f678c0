// SPDX-License-Identifier: Apache-2.0
// Figures of one moment as a request of Prometheus's remote write, version 1.
//
//   WriteRequest  { repeated TimeSeries timeseries = 1; }
//   TimeSeries    { repeated Label labels = 1; repeated Sample samples = 2; }
//   Label         { string name = 1; string value = 2; }
//   Sample        { double value = 1; int64 timestamp = 2; }   milliseconds since 1970
//
// The protocol wants the labels of a series in order, each name once, none empty, and text that is
// UTF-8; receivers refuse the whole request otherwise. Names of processes and paths are others'
// text, so they pass printable() and are cut at kLongestLabel.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "serve/metrics.h"

namespace plateau::push {

inline constexpr size_t kLongestLabel = 512;  // Mimir takes 2,048 bytes by default.

using LabelList = std::vector<std::pair<std::string, std::string>>;

struct WriteRequest {
  std::string body;     // Not yet compressed; empty if nothing could be told.
  uint32_t series = 0;  // Each with one sample.
};

// `more` are put to every series that does not have them already. A figure that is not finite is
// left out.
WriteRequest write_request(std::span<const MetricSample> samples, const LabelList& more,
                           int64_t at_ms);

// May this be the name of a label? Letters, digits and '_', no digit first, not "__…".
bool is_label_name(std::string_view name);

}  // namespace plateau::push
