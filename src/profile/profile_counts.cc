// SPDX-License-Identifier: Apache-2.0
#include "profile/profile_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/printable.h"
#include "base/text.h"
#include "base/units.h"
#include "verdict/signal.h"

namespace plateau {
namespace {

constexpr std::string_view kTypes = "objects.";
constexpr std::string_view kTensors = "tensors.";

std::vector<TimedValue> points_of(const Gauge& gauge, const Signals& signals) {
  std::vector<TimedValue> points;
  for (size_t i = 0; i < gauge.value.size(); ++i) {
    if (!signals.working[i] || !std::isfinite(gauge.value[i])) continue;
    points.push_back({signals.clock_of_instant[i], gauge.value[i]});
  }
  return points;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t from = 0; from <= text.size();) {
    const size_t to = std::min(text.find(separator, from), text.size());
    parts.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return parts;
}

double elements_of(std::string_view shape) {
  if (shape == "scalar") return 1;
  double elements = 1;
  for (const std::string_view side : split(shape, 'x')) {
    const std::optional<double> length = parse_double(side);
    if (!length || *length < 0) return 0;
    elements *= *length;
  }
  return elements;
}

// "tensors.cpu.float32.8x3x224x224"; totals such as "tensors.cpu.bytes" are none.
std::optional<ProfileCount> tensor_of(std::string_view name) {
  const std::vector<std::string_view> parts = split(name, '.');
  if (parts.size() != 4) return std::nullopt;
  ProfileCount count;
  count.name = printable(fmt::format("{} {} on {}", parts[2], parts[3], parts[1]));
  count.mb_each =
      elements_of(parts[3]) * static_cast<double>(element_bytes(parts[2])) / kBytesPerMb;
  return count;
}

void sort_counts(std::vector<ProfileCount>& counts) {
  // Tensors by what they weigh.
  const auto growth = [](const ProfileCount& count) {
    return count.verdict.growth_mb * (count.mb_each > 0 ? count.mb_each : 1);
  };
  std::stable_sort(
      counts.begin(), counts.end(),
      [&growth](const ProfileCount& a, const ProfileCount& b) { return growth(a) > growth(b); });
}

}  // namespace

size_t element_bytes(std::string_view dtype) {
  struct Known {
    std::string_view name;
    size_t bytes;
  };
  constexpr std::array<Known, 15> kKnown = {{{"float32", 4},
                                             {"float64", 8},
                                             {"float16", 2},
                                             {"bfloat16", 2},
                                             {"int64", 8},
                                             {"int32", 4},
                                             {"int16", 2},
                                             {"int8", 1},
                                             {"uint8", 1},
                                             {"bool", 1},
                                             {"complex64", 8},
                                             {"complex128", 16},
                                             {"float8_e4m3fn", 1},
                                             {"float8_e5m2", 1},
                                             {"complex32", 4}}};
  const auto* const found = std::find_if(
      kKnown.begin(), kKnown.end(), [dtype](const Known& known) { return known.name == dtype; });
  return found == kKnown.end() ? 0 : found->bytes;
}

void add_counts(const Run& run, int64_t pid, const Policy& policy, HeapProfile& profile) {
  const auto of_process = [&run, pid](const Gauge& gauge) {
    const Process& process = run.processes[gauge.process];
    return process.id_is_pid && process.id == pid;
  };
  const bool any = std::any_of(run.gauges.begin(), run.gauges.end(), of_process);
  const Signals signals = extract_signals(run);
  for (const Gauge& gauge : run.gauges) {
    if (any && !of_process(gauge)) continue;
    const std::string_view name = gauge.name;
    const bool type = name.starts_with(kTypes);
    std::optional<ProfileCount> count;
    if (type) count = ProfileCount{.name = printable(name.substr(kTypes.size()))};
    if (name.starts_with(kTensors)) count = tensor_of(name);
    if (!count) continue;
    count->verdict = judge_series(points_of(gauge, signals), signals.clock, run.context, policy,
                                  SeriesUnit::count);
    (type ? profile.types : profile.tensors).push_back(std::move(*count));
  }
  sort_counts(profile.types);
  sort_counts(profile.tensors);
}

}  // namespace plateau
