// SPDX-License-Identifier: Apache-2.0
#include "verdict/load.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"

namespace plateau {
namespace {

constexpr std::string_view kCpuSeconds = "cpu_s";  // Counted up since the process began.
constexpr std::array<std::string_view, 12> kLoadNames = {
    "requests", "in_flight", "inflight", "connections", "sessions", "clients",
    "rps",      "qps",       "load",     "cpu_percent", "cpu",      "concurrency"};

// Load that stays within a fifth of its largest value explains no growth worth asking about.
constexpr double kVaries = 0.2;
// Two neighbouring samples of a busy machine differ by more than the load does.
constexpr size_t kSmoothedOver = 5;

// What was added since the instant before, per second, over all processes that were there at both.
std::vector<double> cpu_rates(const Run& run) {
  std::vector<double> rates(run.instants.size(), kMissing);
  for (const Gauge& gauge : run.gauges) {
    if (gauge.name != kCpuSeconds) continue;
    for (size_t i = 1; i < gauge.value.size(); ++i) {
      const double spent = gauge.value[i] - gauge.value[i - 1];
      const double seconds = run.instants[i].time_s - run.instants[i - 1].time_s;
      if (!(spent >= 0) || !(seconds > 0)) continue;
      rates[i] = (std::isfinite(rates[i]) ? rates[i] : 0) + spent / seconds;
    }
  }
  return rates;
}

// A count that never falls, over so many readings, is one of all work done so far. What its name
// says to be a rate, or in flight, only rises.
constexpr size_t kTellsACounter = 20;
constexpr std::string_view kMayCountUp = "requests, connections, sessions, clients";

bool counts_up(std::string_view name, const std::vector<double>& values) {
  if (!lists(kMayCountUp, ", ", name)) return false;
  double last = kMissing;
  size_t read = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    if (value < last) return false;
    last = value;
    ++read;
  }
  return read >= kTellsACounter && last > 0;
}

// What was added since the instant before, per second.
std::vector<double> rates_of(const Run& run, const std::vector<double>& counted) {
  std::vector<double> rates(counted.size(), kMissing);
  for (size_t i = 1; i < counted.size(); ++i) {
    const double seconds = run.instants[i].time_s - run.instants[i - 1].time_s;
    if (seconds > 0) rates[i] = (counted[i] - counted[i - 1]) / seconds;
  }
  return rates;
}

// The sum over all processes of the first gauge that counts work in flight, or its rate if it
// counts up.
std::vector<double> gauge_values(const Run& run) {
  std::vector<double> sum(run.instants.size(), kMissing);
  std::string_view name;
  for (const Gauge& gauge : run.gauges) {
    if (!names_load(gauge.name) || (!name.empty() && gauge.name != name)) continue;
    name = gauge.name;
    for (size_t i = 0; i < gauge.value.size(); ++i) {
      if (!std::isfinite(gauge.value[i])) continue;
      sum[i] = (std::isfinite(sum[i]) ? sum[i] : 0) + gauge.value[i];
    }
  }
  return counts_up(name, sum) ? rates_of(run, sum) : sum;
}

std::vector<TimedValue> smoothed(const std::vector<TimedValue>& points) {
  std::vector<TimedValue> out;
  for (size_t i = 0; i < points.size(); ++i) {
    const size_t from = i >= kSmoothedOver / 2 ? i - kSmoothedOver / 2 : 0;
    const size_t to = std::min(points.size(), i + kSmoothedOver / 2 + 1);
    double sum = 0;
    for (size_t j = from; j < to; ++j) sum += points[j].mb;
    out.push_back({points[i].at, sum / static_cast<double>(to - from)});
  }
  return out;
}

bool varies(const std::vector<TimedValue>& points) {
  const auto [low, high] =
      std::minmax_element(points.begin(), points.end(),
                          [](const TimedValue& a, const TimedValue& b) { return a.mb < b.mb; });
  return high->mb > 0 && high->mb - low->mb >= kVaries * high->mb;
}

}  // namespace

bool names_load(std::string_view gauge) {
  return std::any_of(kLoadNames.begin(), kLoadNames.end(),
                     [gauge](std::string_view name) { return equal_ignoring_case(name, gauge); });
}

Load load_of(const Run& run, const std::vector<double>& clock_of_instant) {
  std::vector<TimedValue> points;
  for (const std::vector<double>& values : {gauge_values(run), cpu_rates(run)}) {
    points.clear();
    for (size_t i = 0; i < values.size() && i < clock_of_instant.size(); ++i) {
      if (std::isfinite(values[i]) && std::isfinite(clock_of_instant[i])) {
        points.push_back({clock_of_instant[i], values[i]});
      }
    }
    if (points.size() * 2 >= run.instants.size() && points.size() >= kSmoothedOver) break;
    points.clear();
  }
  if (points.empty()) return {};
  points = smoothed(points);
  if (!varies(points)) points.clear();
  return {.known = true, .points = std::move(points)};
}

}  // namespace plateau
