// SPDX-License-Identifier: Apache-2.0
// For tests: are two Runs the same, to the last bit, missing values included?
#pragma once

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "recording/run.h"

namespace plateau {

inline bool same_number(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) ||
         std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

inline bool same_numbers(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_number);
}

inline bool same_fact(const std::optional<Fact>& a, const std::optional<Fact>& b) {
  if (a.has_value() != b.has_value()) return false;
  return !a || (same_number(a->value, b->value) && a->source == b->source);
}

// "" if they are; source and format may differ.
inline std::string difference_between(const Run& a, const Run& b) {
  const auto process = [](const Process& p) {
    return std::tie(p.id, p.parent, p.id_is_pid, p.name, p.role, p.role_reason);
  };
  if (!std::equal(a.processes.begin(), a.processes.end(), b.processes.begin(), b.processes.end(),
                  [&](const Process& x, const Process& y) { return process(x) == process(y); })) {
    return "processes";
  }
  if (!std::equal(a.instants.begin(), a.instants.end(), b.instants.begin(), b.instants.end(),
                  [](const Instant& x, const Instant& y) {
                    return x.step == y.step && same_number(x.time_s, y.time_s) &&
                           same_number(x.epoch, y.epoch);
                  })) {
    return fmt::format("instants ({} and {})", a.instants.size(), b.instants.size());
  }
  if (!std::equal(a.series.begin(), a.series.end(), b.series.begin(), b.series.end(),
                  [](const Series& x, const Series& y) {
                    return x.process == y.process && x.metric == y.metric && x.label == y.label &&
                           same_numbers(x.mb, y.mb);
                  })) {
    return "series";
  }
  if (!std::equal(a.gauges.begin(), a.gauges.end(), b.gauges.begin(), b.gauges.end(),
                  [](const Gauge& x, const Gauge& y) {
                    return x.process == y.process && x.name == y.name &&
                           same_numbers(x.value, y.value);
                  })) {
    return "gauges";
  }
  if (!std::equal(a.events.begin(), a.events.end(), b.events.begin(), b.events.end(),
                  [](const Event& x, const Event& y) {
                    return x.instant == y.instant && x.kind == y.kind && x.text == y.text;
                  })) {
    return "events";
  }
  const Context& c = a.context;
  const Context& d = b.context;
  if (!same_fact(c.examples, d.examples) || !same_fact(c.batch, d.batch) ||
      !same_fact(c.epoch_steps, d.epoch_steps) || !same_fact(c.total_steps, d.total_steps) ||
      !same_fact(c.limit_mb, d.limit_mb)) {
    return "context";
  }
  if (a.command != b.command) return "command";
  if (a.ending.kind != b.ending.kind || a.ending.code != b.ending.code ||
      a.ending.text != b.ending.text) {
    return "ending";
  }
  if (a.notes != b.notes) return "notes";
  // Encoding is the same for the same track, so its bytes stand for every field of it.
  if (!std::equal(a.heaps.begin(), a.heaps.end(), b.heaps.begin(), b.heaps.end(),
                  [](const HeapTrack& x, const HeapTrack& y) {
                    return encode_heap_track(x) == encode_heap_track(y);
                  }) ||
      a.heap_start_s != b.heap_start_s) {
    return "heaps";
  }
  if (a.epoch_time != b.epoch_time) return "epoch_time";
  if (a.title != b.title || a.lines_read != b.lines_read || a.lines_bad != b.lines_bad) {
    return "title or counts of lines";
  }
  return "";
}

}  // namespace plateau
