// SPDX-License-Identifier: Apache-2.0
// What is drawn over the samples: floor, spikes, phases, marks, ends of epochs, where it leads.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "page/page_numbers.h"
#include "page/page_run.h"
#include "report/text.h"
#include "words/sentence.h"

namespace plateau {
namespace {

constexpr size_t kMostMarks = 1000;
constexpr size_t kMostEpochs = 200;

void write_points(JsonWriter& json, std::string_view key, const std::vector<PlotPoint>& points,
                  bool spikes) {
  std::vector<double> at, mb;
  for (const PlotPoint& point : points) {
    if (point.spike != spikes) continue;
    at.push_back(point.step);
    mb.push_back(point.mb);
  }
  json.key(key).begin_object().key("x");
  write_moments(json, at);
  json.key("mb");
  write_rounded(json, mb);
  json.end_object();
}

void write_phases(JsonWriter& json, const PageRun& page) {
  json.key("phases").begin_array();
  for (const Phase& phase : page.answer->verdict.phases) {
    json.begin_object().key("from_step");
    write_moment(json, phase.from_step);
    json.key("to_step");
    write_moment(json, phase.to_step);
    json.key("from_mb");
    write_rounded(json, phase.from_mb);
    json.key("to_mb");
    write_rounded(json, phase.to_mb);
    json.key("rate_mb_per_step");
    write_rounded(json, phase.rate_mb_per_step);
    json.end_object();
  }
  json.end_array();
}

// Of too many marks evenly spaced ones are kept, the first and the last among them.
void write_events(JsonWriter& json, PageRun& page) {
  std::vector<const Event*> events;
  events.reserve(page.run->events.size());
  for (const Event& event : page.run->events) events.push_back(&event);
  const size_t all = events.size();
  if (all > kMostMarks) {
    std::vector<const Event*> kept;
    kept.reserve(kMostMarks);
    for (size_t i = 0; i < kMostMarks; ++i) {
      kept.push_back(events[i * (all - 1) / (kMostMarks - 1)]);
    }
    events = std::move(kept);
    page.left_out.push_back(fmt::format("{} of {} marks are shown, evenly spaced",
                                        format_count(static_cast<int64_t>(kMostMarks)),
                                        format_count(static_cast<int64_t>(all))));
  }
  json.key("marks").begin_array();
  for (const Event* event : events) {
    json.begin_object().key("x");
    write_moment(json, page.signals.clock_of_instant[event->instant]);
    json.key("kind").value(event_name(event->kind));
    json.key("text").value(printable(event->text)).end_object();
  }
  json.end_array();
}

void write_epochs(JsonWriter& json, const Verdict& verdict, double end) {
  std::vector<double> ends;
  const double every = verdict.epoch_steps.value_or(0);
  if (every > 0 && end / every <= static_cast<double>(kMostEpochs)) {
    for (double at = every; at <= end; at += every) {
      if (at >= verdict.first_step) ends.push_back(at);
    }
  }
  json.key("epochs");
  write_moments(json, ends);
}

const Explanation* named(const Verdict& verdict, const std::string& name) {
  for (const Explanation& each : verdict.explanations) {
    if (each.name == name) return &each;
  }
  return nullptr;
}

void write_path(JsonWriter& json, const Verdict& verdict, const FanPath& path) {
  const Explanation* explanation = named(verdict, path.name);
  if (explanation == nullptr || path.points.empty()) return;
  json.begin_object().key("name").value(path.name).key("words");
  json.value(explanation_phrase(*explanation, verdict.clock));
  json.key("bounded").value(explanation->bounded).key("weight");
  write_rounded(json, explanation->weight);
  json.key("x").begin_array();
  for (const PlotPoint& point : path.points) write_moment(json, point.step);
  json.end_array().key("mb").begin_array();
  for (const PlotPoint& point : path.points) write_rounded(json, point.mb);
  json.end_array().end_object();
}

void write_fan(JsonWriter& json, const Verdict& verdict, const Fan& fan) {
  json.key("forecast");
  if (fan.band.empty()) {
    json.null();
    return;
  }
  json.begin_object().key("x").begin_array();
  for (const FanPoint& point : fan.band) write_moment(json, point.at);
  const auto row = [&](std::string_view key, double FanPoint::* member) {
    json.end_array().key(key).begin_array();
    for (const FanPoint& point : fan.band) write_rounded(json, point.*member);
  };
  row("low_mb", &FanPoint::low_mb);
  row("mid_mb", &FanPoint::mid_mb);
  row("high_mb", &FanPoint::high_mb);
  json.end_array().key("paths").begin_array();
  for (const FanPath& path : fan.paths) write_path(json, verdict, path);
  json.end_array().end_object();
}

}  // namespace

void write_marks(JsonWriter& json, PageRun& page) {
  const Verdict& verdict = page.answer->verdict;
  const Fan& fan = page.answer->ahead;
  write_points(json, "floor", page.answer->floor, false);
  write_points(json, "spikes", verdict.plot, true);
  write_phases(json, page);
  write_events(json, page);
  write_epochs(json, verdict, fan.band.empty() ? verdict.last_step : fan.band.back().at);
  write_fan(json, verdict, fan);
  json.key("limit_mb");
  write_rounded(json, verdict.risk.limit_mb);
}

}  // namespace plateau
