// SPDX-License-Identifier: Apache-2.0
// The same figures as OpenTelemetry's protocol has them (OTLP/HTTP, JSON): for a collector.
//
//   {"resourceMetrics":[{"resource":{"attributes":[...]},"scopeMetrics":[{"scope":{"name":"plateau"},
//     "metrics":[{"name":"plateau_owned_memory_bytes","gauge":{"dataPoints":[...]}}, ...]}]}]}
//
// Every figure is a gauge, its labels are attributes of the data point. What is the same for all,
// service.name, job and instance, are attributes of the resource. Times are nanoseconds since
// 1970, as text, which is how JSON spells 64-bit integers there.
#pragma once

#include <cstdint>
#include <span>

#include "push/write_request.h"

namespace plateau::push {

// A figure that is not finite is left out; texts are made harmless and cut as in write_request().
WriteRequest otlp_request(std::span<const MetricSample> samples, const LabelList& more,
                          int64_t at_ms);

}  // namespace plateau::push
