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
  json.members(key, json_object("x", moments(at), "mb", rounded(mb)));
}

void write_phase(JsonWriter& json, const Phase& phase) {
  json.value(json_object("from_step", Moment(phase.from_step), "to_step", Moment(phase.to_step),
                         "from_mb", Rounded(phase.from_mb), "to_mb", Rounded(phase.to_mb),
                         "rate_mb_per_step", Rounded(phase.rate_mb_per_step)));
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
    json.value(json_object("x", Moment(page.signals.clock_of_instant[event->instant]), "kind",
                           event_name(event->kind), "text", printable(event->text)));
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
  json.members("epochs", moments(ends));
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
  const auto moment = [](const PlotPoint& point) { return Moment(point.step); };
  const auto amount = [](const PlotPoint& point) { return Rounded(point.mb); };
  json.value(json_object("name", path.name, "words",
                         explanation_phrase(*explanation, verdict.clock), "bounded",
                         explanation->bounded, "weight", Rounded(explanation->weight), "x",
                         json_list(path.points, moment), "mb", json_list(path.points, amount)));
}

void write_fan(JsonWriter& json, const Verdict& verdict, const Fan& fan) {
  if (fan.band.empty()) {
    json.key("forecast").null();
    return;
  }
  const auto row = [&](double FanPoint::* member) {
    std::vector<double> values;
    values.reserve(fan.band.size());
    for (const FanPoint& point : fan.band) values.push_back(point.*member);
    return values;
  };
  const auto path = [&verdict](JsonWriter& each, const FanPath& of) {
    write_path(each, verdict, of);
  };
  json.members(
      "forecast",
      json_object("x", moments(row(&FanPoint::at)), "low_mb", rounded(row(&FanPoint::low_mb)),
                  "mid_mb", rounded(row(&FanPoint::mid_mb)), "high_mb",
                  rounded(row(&FanPoint::high_mb)), "paths", json_list(fan.paths, path)));
}

}  // namespace

void write_marks(JsonWriter& json, PageRun& page) {
  const Verdict& verdict = page.answer->verdict;
  const Fan& fan = page.answer->ahead;
  write_points(json, "floor", page.answer->floor, false);
  write_points(json, "spikes", verdict.plot, true);
  json.members("phases", json_list(verdict.phases, write_phase));
  write_events(json, page);
  write_epochs(json, verdict, fan.band.empty() ? verdict.last_step : fan.band.back().at);
  write_fan(json, verdict, fan);
  json.members("limit_mb", Rounded(verdict.risk.limit_mb));
}

}  // namespace plateau
