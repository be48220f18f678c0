// SPDX-License-Identifier: Apache-2.0
// The answer of Prometheus to a range query (/api/v1/query_range), or its bare result list.
//
// Each result is one time series; results with the same labels, __name__ aside, are the metrics of
// one process, named by its labels. Series may have different timestamps: rows are their union. The
// metric's name gives kind and unit; Prometheus counts in bytes unless a name says otherwise. A
// query without a metric name (sum by (pod) (…)) is plain memory in bytes.
#include <simdjson.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/text.h"
#include "import/column_role.h"
#include "import/json_document.h"
#include "import/readers.h"
#include "import/run_builder.h"

namespace plateau {
namespace {

struct Known {
  std::string_view name;
  std::optional<Metric> metric;  // Nullopt: not memory in use.
  double unit_mb;
};

constexpr double kBytes = 1e-6;
// cAdvisor's "rss" is the anonymous part, its working set is usage without inactive file pages.
constexpr Known kKnown[] = {
    {"process_resident_memory_bytes", Metric::rss, kBytes},
    {"process_virtual_memory_bytes", std::nullopt, kBytes},
    {"process_virtual_memory_max_bytes", std::nullopt, kBytes},
    {"container_memory_rss", Metric::anon, kBytes},
    {"container_memory_working_set_bytes", Metric::system_used, kBytes},
    {"container_memory_usage_bytes", Metric::memory, kBytes},
    {"container_memory_cache", Metric::file, kBytes},
    {"container_memory_mapped_file", Metric::file, kBytes},
    {"container_memory_swap", Metric::swap, kBytes},
    {"container_memory_max_usage_bytes", std::nullopt, kBytes},
    {"DCGM_FI_DEV_FB_USED", Metric::gpu, 1.048576},
    {"nvidia_smi_memory_used_bytes", Metric::gpu, kBytes},
    {"nvidia_gpu_memory_used_bytes", Metric::gpu, kBytes},
};

Known lookup(std::string_view name) {
  for (const Known& known : kKnown) {
    if (known.name == name) return known;
  }
  if (name.empty()) return {name, Metric::memory, kBytes};
  const ColumnRole role = classify_column(name);
  if (role.kind != ColumnRole::Kind::memory) return {name, std::nullopt, 0};
  return {name, role.metric, role.unit_mb > 0 ? role.unit_mb : kBytes};
}

struct Point {
  double time;
  double mb;
};
struct PromSeries {
  std::string process;
  std::string name;
  Metric metric = Metric::memory;
  std::vector<Point> points;
};

// "pod=train-0, container=main": all labels but the name, in their order.
std::string process_name(simdjson::dom::object labels) {
  std::string name;
  for (const auto label : labels) {
    std::string_view value;
    if (label.key == "__name__" || label.value.get(value) != simdjson::SUCCESS) continue;
    if (name.size() > 200) break;
    name += fmt::format("{}{}={}", name.empty() ? "" : ", ", label.key, value);
  }
  return name;
}

void read_point(simdjson::dom::element element, double unit_mb, PromSeries& series,
                RunBuilder& builder) {
  simdjson::dom::array pair;
  double time = 0;
  std::string_view text;
  if (element.get(pair) != simdjson::SUCCESS || pair.at(0).get(time) != simdjson::SUCCESS ||
      pair.at(1).get(text) != simdjson::SUCCESS) {
    builder.bad(0, "a point that is not [time, \"value\"]");
    return;
  }
  const auto value = parse_double(text);
  if (!value) {
    builder.bad(0, fmt::format("value '{}'", text.substr(0, 40)));
  } else if (std::isfinite(*value) && std::isfinite(time)) {
    series.points.push_back({time, *value * unit_mb});
  }
}

bool read_limit(simdjson::dom::object result, std::string_view name, RunBuilder& builder) {
  if (name != "container_spec_memory_limit_bytes") return false;
  simdjson::dom::array values;
  std::string_view text;
  if (result["values"].get(values) == simdjson::SUCCESS && values.size() > 0 &&
      values.at(0).at(1).get(text) == simdjson::SUCCESS) {
    const double bytes = parse_double(text).value_or(0);
    // Without a limit cAdvisor reports 0 or a number near 2^63.
    if (bytes < 1e15) builder.fact(&Context::limit_mb, bytes * kBytes, name);
  }
  return true;
}

void read_result(simdjson::dom::object result, std::vector<PromSeries>& all, RunBuilder& builder) {
  PromSeries series;
  simdjson::dom::object labels;
  std::string_view name;
  if (result["metric"].get(labels) == simdjson::SUCCESS) {
    if (labels["__name__"].get(name) != simdjson::SUCCESS) name = "";
    series.process = process_name(labels);
  }
  if (read_limit(result, name, builder)) return;
  const Known known = lookup(name);
  if (!known.metric) return;
  series.name = name.empty() ? "value" : name;
  series.metric = *known.metric;
  simdjson::dom::array values;
  simdjson::dom::element value;
  if (result["values"].get(values) == simdjson::SUCCESS) {
    for (const simdjson::dom::element point : values) {
      read_point(point, known.unit_mb, series, builder);
    }
  } else if (result["value"].get(value) == simdjson::SUCCESS) {
    read_point(value, known.unit_mb, series, builder);
  }
  if (!series.points.empty()) all.push_back(std::move(series));
}

// Walks all series in time order and gives the builder one row per timestamp.
void merge(std::vector<PromSeries>& all, RunBuilder& builder) {
  std::map<std::string, size_t> processes;
  struct Cell {
    double time;
    size_t column;
    double mb;
  };
  std::vector<Cell> cells;
  for (PromSeries& series : all) {
    const auto id = static_cast<int64_t>(processes.size());
    const auto [found, fresh] = processes.try_emplace(series.process, 0);
    if (fresh) {
      found->second = builder.process(id, false);
      builder.describe(found->second, series.process, -1);
    }
    const size_t column = builder.memory_column(found->second, series.metric, series.name);
    for (const Point& point : series.points) cells.push_back({point.time, column, point.mb});
    series.points = {};
  }
  std::sort(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) {
    return std::tie(a.time, a.column, a.mb) < std::tie(b.time, b.column, b.mb);
  });
  double last = kMissing;
  for (const Cell& cell : cells) {
    if (cell.time != last) builder.row({.step = -1, .time_s = cell.time, .epoch = kMissing}, 0);
    last = cell.time;
    builder.set_mb(cell.column, cell.mb);
  }
}

}  // namespace

Result<Runs> read_prometheus(LineReader& lines) {
  simdjson::dom::parser parser;
  const Result<simdjson::dom::element> parsed = read_json_document(lines, parser);
  if (!parsed.ok()) return parsed.error();
  const simdjson::dom::element root = parsed.value();
  RunBuilder builder("prometheus");
  std::string_view status;
  if (root["status"].get(status) == simdjson::SUCCESS && status == "error") {
    std::string_view why;
    if (root["error"].get(why) != simdjson::SUCCESS) why = "no reason given";
    return Error{Error::Kind::bad_input, fmt::format("is a failed Prometheus query: {}", why)};
  }
  std::vector<PromSeries> all;
  simdjson::dom::array results;
  simdjson::dom::object alone;
  simdjson::dom::element values;
  if (root.get(alone) == simdjson::SUCCESS && alone["values"].get(values) == simdjson::SUCCESS) {
    read_result(alone, all, builder);  // One series, cut out of an answer.
  } else if (root.get(results) == simdjson::SUCCESS ||
             root["data"]["result"].get(results) == simdjson::SUCCESS ||
             root["result"].get(results) == simdjson::SUCCESS) {
    for (const simdjson::dom::element entry : results) {
      simdjson::dom::object result;
      if (entry.get(result) == simdjson::SUCCESS) read_result(result, all, builder);
    }
  }
  builder.set_epoch_time(true);
  merge(all, builder);
  return builder.finish(0);
}

}  // namespace plateau
