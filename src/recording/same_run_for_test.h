// SPDX-License-Identifier: Apache-2.0
// For tests: are two Runs the same, to the last bit, missing values included?
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "recording/facts.h"
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
  return !a || (same_number(a->value, b->value) && a->source == b->source && a->text == b->text);
}

template <typename T, typename Same>
bool same_lists(const std::vector<T>& a, const std::vector<T>& b, Same same) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

inline bool same_process(const Process& a, const Process& b) {
  const auto all = [](const Process& p) {
    return std::tie(p.id, p.parent, p.id_is_pid, p.name, p.role, p.role_reason);
  };
  return all(a) == all(b);
}

inline bool same_instant(const Instant& a, const Instant& b) {
  return a.step == b.step && same_number(a.time_s, b.time_s) && same_number(a.epoch, b.epoch);
}

inline bool same_series(const Series& a, const Series& b) {
  return a.process == b.process && a.metric == b.metric && a.label == b.label &&
         same_numbers(a.mb, b.mb);
}

inline bool same_gauge(const Gauge& a, const Gauge& b) {
  return a.process == b.process && a.name == b.name && same_numbers(a.value, b.value);
}

inline bool same_event(const Event& a, const Event& b) {
  return a.instant == b.instant && a.kind == b.kind && a.text == b.text;
}

inline bool same_context(const Context& a, const Context& b) {
  return std::all_of(kFacts.begin(), kFacts.end(),
                     [&](const FactKind& fact) { return same_fact(a.*fact.field, b.*fact.field); });
}

inline bool same_ending(const Ending& a, const Ending& b) {
  return a.kind == b.kind && a.code == b.code && a.text == b.text;
}

// Encoding is the same for the same track, so its bytes stand for every field of it.
inline bool same_track(const HeapTrack& a, const HeapTrack& b) {
  return encode_heap_track(a) == encode_heap_track(b);
}

// "" if they are; source and format may differ.
inline std::string difference_between(const Run& a, const Run& b) {
  if (!same_lists(a.processes, b.processes, same_process)) return "processes";
  if (!same_lists(a.instants, b.instants, same_instant)) {
    return fmt::format("instants ({} and {})", a.instants.size(), b.instants.size());
  }
  if (!same_lists(a.series, b.series, same_series)) return "series";
  if (!same_lists(a.gauges, b.gauges, same_gauge)) return "gauges";
  if (!same_lists(a.events, b.events, same_event)) return "events";
  if (!same_context(a.context, b.context)) return "context";
  if (a.command != b.command) return "command";
  if (!same_ending(a.ending, b.ending)) return "ending";
  if (a.notes != b.notes) return "notes";
  if (!same_lists(a.heaps, b.heaps, same_track) || a.heap_start_s != b.heap_start_s) return "heaps";
  if (a.epoch_time != b.epoch_time) return "epoch_time";
  if (a.title != b.title || a.lines_read != b.lines_read || a.lines_bad != b.lines_bad) {
    return "title or counts of lines";
  }
  return "";
}

}  // namespace plateau
