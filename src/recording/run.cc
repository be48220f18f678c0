// SPDX-License-Identifier: Apache-2.0
#include "recording/run.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace plateau {

namespace {

constexpr std::array<std::string_view, kMetricCount> kMetricNames = {
    "memory",         "rss",      "pss",         "uss", "anon",         "pss_anon", "file",
    "shmem",          "swap",     "system_used", "gpu", "gpu_reserved", "pss_file", "pss_shmem",
    "shmem_unmapped", "java_heap"};
constexpr std::array<std::string_view, 7> kRoleNames = {
    "unknown", "wrapper", "main", "data worker", "compile worker", "helper", "orphan"};
constexpr std::array<std::string_view, 6> kEventNames = {"eval",    "checkpoint", "epoch",
                                                         "restart", "oom",        "mark"};

}  // namespace

Context::Context() = default;
Context::Context(const Context& other) = default;
Context::Context(Context&& other) noexcept = default;
Context& Context::operator=(const Context& other) = default;
Context& Context::operator=(Context&& other) noexcept = default;
Context::~Context() = default;

Run::Run() = default;
Run::Run(const Run& other) = default;
Run::Run(Run&& other) noexcept = default;
Run& Run::operator=(const Run& other) = default;
Run& Run::operator=(Run&& other) noexcept = default;
Run::~Run() = default;

std::string_view metric_name(Metric metric) {
  return kMetricNames[static_cast<size_t>(metric)];
}

std::optional<Metric> metric_from_name(std::string_view name) {
  const auto* found = std::find(kMetricNames.begin(), kMetricNames.end(), name);
  if (found == kMetricNames.end()) return std::nullopt;
  return static_cast<Metric>(found - kMetricNames.begin());
}

std::string_view role_name(Role role) {
  return kRoleNames[static_cast<size_t>(role)];
}

std::string_view event_name(EventKind kind) {
  return kEventNames[static_cast<size_t>(kind)];
}

std::optional<EventKind> event_from_name(std::string_view name) {
  const auto* found = std::find(kEventNames.begin(), kEventNames.end(), name);
  if (found == kEventNames.end()) return std::nullopt;
  return static_cast<EventKind>(found - kEventNames.begin());
}

bool Run::has_steps() const {
  return !instants.empty() && std::all_of(instants.begin(), instants.end(),
                                          [](const Instant& at) { return at.step >= 0; });
}

bool Run::has_times() const {
  return !instants.empty() && std::all_of(instants.begin(), instants.end(), [](const Instant& at) {
    return std::isfinite(at.time_s);
  });
}

Run prefix_of(const Run& run, size_t count) {
  Run cut = run;
  cut_to(cut, count);
  return cut;
}

void cut_to(Run& run, size_t count) {
  count = std::min(count, run.instants.size());
  if (count < run.instants.size()) run.ending = {};
  run.instants.resize(count);
  for (Series& series : run.series) series.mb.resize(std::min(count, series.mb.size()));
  for (Gauge& gauge : run.gauges) gauge.value.resize(std::min(count, gauge.value.size()));
  std::erase_if(run.events, [count](const Event& event) { return event.instant >= count; });
  const double last_s =
      count > 0 ? run.instants.back().time_s : -std::numeric_limits<double>::infinity();
  if (run.holders && run.holders->to_s > last_s) run.holders.reset();
  for (HeapTrack& heap : run.heaps) {
    std::erase_if(heap.rows,
                  [&](const HeapRow& row) { return row.time_s + run.heap_start_s > last_s; });
  }
}

}  // namespace plateau
