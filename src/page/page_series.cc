// SPDX-License-Identifier: Apache-2.0
// The samples to draw: lines by kind of page and by process, and counts.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "page/page_numbers.h"
#include "page/page_run.h"
#include "report/text.h"

namespace plateau {
namespace {

// More lines than this cannot be told apart; the others are one line, their sum.
constexpr size_t kMostProcessLines = 32;
constexpr size_t kMostGauges = 48;

struct DrawnLine {
  std::string_view group;
  std::string name;
  std::optional<size_t> process;
  bool judged = false;
  bool stacked = false;
};

void write_line(JsonWriter& json, const PageRun& page, const DrawnLine& line,
                std::span<const double> mb) {
  json.value(json_object("group", line.group, "name", line.name, "process", line.process, "judged",
                         line.judged, "stacked", line.stacked, "mb",
                         rounded(page.thinning.line(mb))));
}

// Anonymous pages do not hold files and shared memory; RSS and PSS do, and stacking those on top
// would count them twice.
bool owned_is_anonymous(const Run& run) {
  return std::any_of(run.series.begin(), run.series.end(), [](const Series& series) {
    return series.metric == Metric::anon || series.metric == Metric::pss_anon;
  });
}

bool has_value(std::span<const double> mb) {
  return std::any_of(mb.begin(), mb.end(), [](double value) { return std::isfinite(value); });
}

void write_components(JsonWriter& json, const PageRun& page) {
  const auto write = [&](std::string_view name, bool stacked, std::span<const double> mb) {
    if (!has_value(mb)) return;
    write_line(json, page,
               {.group = "component",
                .name = std::string(name),
                .judged = name == page.answer->verdict.component,
                .stacked = stacked},
               mb);
  };
  write("owned", true, page.columns->owned());
  const bool apart = owned_is_anonymous(*page.run);
  for (size_t kind = 0; kind < TreeColumns::kOtherKinds; ++kind) {
    const std::string_view name = TreeColumns::other_name(kind);
    write(name, apart && (name == "shmem" || name == "file"), page.columns->other(kind));
  }
}

double peak_of(std::span<const double> mb) {
  double peak = 0;
  for (const double value : mb) {
    if (std::isfinite(value)) peak = std::max(peak, value);
  }
  return peak;
}

std::string line_name(const Process& process) {
  std::string name = printable(process.name);
  if (!name.empty()) return name;
  return fmt::format("{} {}", process.id_is_pid ? "pid" : "process", process.id);
}

void write_process_lines(JsonWriter& json, PageRun& page) {
  const auto& owned = page.columns->owned_of_process();
  std::vector<size_t> drawn;
  for (size_t p = 0; p < owned.size(); ++p) {
    if (has_value(owned[p])) drawn.push_back(p);
  }
  if (drawn.size() < 2 && page.run->processes.size() < 2) return;
  std::vector<size_t> others;
  if (drawn.size() > kMostProcessLines) {
    std::vector<double> peaks;
    peaks.reserve(owned.size());
    for (const auto& mb : owned) peaks.push_back(peak_of(mb));
    std::stable_sort(drawn.begin(), drawn.end(),
                     [&](size_t a, size_t b) { return peaks[a] > peaks[b]; });
    others.assign(drawn.begin() + kMostProcessLines - 1, drawn.end());
    drawn.resize(kMostProcessLines - 1);
    std::sort(drawn.begin(), drawn.end());
  }
  for (const size_t p : drawn) {
    write_line(json, page,
               {.group = "process",
                .name = line_name(page.run->processes[p]),
                .process = page.place[p],
                .stacked = true},
               owned[p]);
  }
  if (others.empty()) return;
  std::vector<double> sum(page.run->instants.size(), kMissing);
  for (const size_t p : others) {
    for (size_t i = 0; i < sum.size(); ++i) {
      if (std::isfinite(owned[p][i])) sum[i] = (std::isfinite(sum[i]) ? sum[i] : 0) + owned[p][i];
    }
  }
  write_line(json, page,
             {.group = "process",
              .name = fmt::format("{} others", format_count(static_cast<int64_t>(others.size()))),
              .stacked = true},
             sum);
}

// Counts that say something about memory come first, a process's own housekeeping last.
int rank_of(const Gauge& gauge) {
  return gauge.name == "threads" || gauge.name == "fds" ? 1 : 0;
}

// Said elsewhere, or no count of anything that memory could hold.
bool is_no_count(const Gauge& gauge) {
  return gauge.name == kCostCpu || gauge.name == kCostWalks || gauge.name == "cpu_s";
}

double rise_of(const Gauge& gauge) {
  double first = kMissing, last = kMissing;
  for (const double value : gauge.value) {
    if (!std::isfinite(value)) continue;
    if (!std::isfinite(first)) first = value;
    last = value;
  }
  return std::isfinite(first) ? (last - first) / std::max(1.0, std::fabs(first)) : -1;
}

void write_gauges(JsonWriter& json, PageRun& page) {
  struct Candidate {
    const Gauge* gauge;
    int rank;
    double rise;
  };
  std::vector<Candidate> gauges;
  for (const Gauge& gauge : page.run->gauges) {
    if (is_no_count(gauge)) continue;
    if (page.place[gauge.process] && has_value(gauge.value)) {
      gauges.push_back({&gauge, rank_of(gauge), rise_of(gauge)});
    }
  }
  if (gauges.size() > kMostGauges) {
    std::stable_sort(gauges.begin(), gauges.end(), [](const Candidate& a, const Candidate& b) {
      return a.rank != b.rank ? a.rank < b.rank : a.rise > b.rise;
    });
    page.left_out.push_back(
        fmt::format("{} of {} counts are drawn: the others rose less or not at all", kMostGauges,
                    format_count(static_cast<int64_t>(gauges.size()))));
    gauges.resize(kMostGauges);
  }
  json.key("gauges").begin_array();
  for (const Candidate& each : gauges) {
    json.value(json_object("name", printable(each.gauge->name), "process",
                           page.place[each.gauge->process], "value",
                           rounded(page.thinning.line(each.gauge->value))));
  }
  json.end_array();
}

void write_times(JsonWriter& json, const PageRun& page) {
  constexpr double kMilli = 1000;
  std::vector<double> seconds;
  seconds.reserve(page.run->instants.size());
  double start = kMissing;
  for (const Instant& at : page.run->instants) {
    if (std::isfinite(at.time_s) && !(at.time_s >= start)) start = at.time_s;
  }
  for (const Instant& at : page.run->instants) seconds.push_back(at.time_s - start);
  const auto milliseconds = [](double at) { return std::round(at * kMilli) / kMilli; };
  json.key("time_s");
  has_value(seconds) ? json.value(json_list(page.thinning.place(seconds), milliseconds))
                     : json.null();
}

}  // namespace

void write_series(JsonWriter& json, PageRun& page) {
  const Thinning& thinning = page.thinning;
  json.members("samples",
               json_object("taken", std::max(page.run->instants.size(), page.run->instants_read),
                           "shown", thinning.rows(), "how", thinning.thins() ? "extremes" : "all"));
  json.members("x", moments(thinning.place(page.signals.clock_of_instant)));
  write_times(json, page);
  json.key("lines").begin_array();
  write_components(json, page);
  write_process_lines(json, page);
  json.end_array();
  write_gauges(json, page);
}

}  // namespace plateau
