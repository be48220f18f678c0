// SPDX-License-Identifier: Apache-2.0
// Documents in which monitoring systems answer: points of metrics, whose name stands beside them
// and not in them.
//
//   CloudWatch  {"Label": "MemoryUtilization", "Datapoints": [{"Timestamp": …, "Average": 34.2,
//               "Unit": "Percent"}, …]}, or "Timestamps": […] beside "Values": […]
//   Google      {"metric": {"type": "…/used_bytes"}, "points": [{"interval": {"endTime": …},
//               "value": {"int64Value": "…"}}, …]}, the newest first
//   Azure       {"name": {"value": …}, "unit": "Bytes", "timeseries": [{"data": [{…}, …]}]}
//   Datadog     {"metric": …, "scope": "host:a", "pointlist": [[1772532000000, 2.1e8], …]}
//   Graphite    {"target": …, "datapoints": [[2.1e8, 1772532000], …]}
//   InfluxDB    {"name": "mem", "columns": ["time", "used"], "values": [[…], …]}
//
// They become what the reader of any log knows: JSON lines, one a point, in the order of their
// times, with the name of the metric and its unit as the key, and a "series" where several things
// have a metric of that name. No list of products decides: points are an array whose elements have
// a time each, and their name is the loudest text in the objects around it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "import/line_reader.h"

namespace plateau {

// Whether a JSON document that begins so may list points.
bool may_list_points(std::string_view head);

// The rest of the input as JSON lines; empty if the document lists no points. Fails when the input
// is too large (LineReader::kMaxDocument) or is no JSON.
Result<std::string> points_as_lines(LineReader& lines);

}  // namespace plateau
