// SPDX-License-Identifier: Apache-2.0
// Runs made by hand, for this room's tests.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "recording/run.h"

#include "verdict/finding.h"

namespace plateau {

inline const Finding* found(const std::vector<Finding>& findings, FindingKind kind) {
  for (const Finding& finding : findings) {
    if (finding.kind == kind) return &finding;
  }
  return nullptr;
}

// A run of one process with one value per sampled step.
inline Run run_of(const std::vector<std::pair<int64_t, double>>& step_and_mb,
                  Metric metric = Metric::rss) {
  Run run;
  run.source = "made-up";
  run.processes = {Process{}};
  Series series{.process = 0, .metric = metric, .label = "rss", .mb = {}};
  for (const auto& [step, mb] : step_and_mb) {
    run.instants.push_back({.step = step});
    series.mb.push_back(mb);
  }
  run.series = {series};
  return run;
}

// The same from a curve, every `every` steps up to `steps`.
inline Run run_of(int64_t steps, int64_t every, const std::function<double(double)>& curve) {
  std::vector<std::pair<int64_t, double>> points;
  for (int64_t step = every; step <= steps; step += every) {
    points.emplace_back(step, curve(static_cast<double>(step)));
  }
  return run_of(points);
}

// A run of several processes; a curve gives MB at a step, NaN where the process is not there.
inline Run run_of_processes(int64_t steps,
                            const std::vector<std::function<double(double)>>& curves) {
  Run run = run_of(steps, 1, curves[0]);
  for (size_t p = 1; p < curves.size(); ++p) {
    run.processes.push_back({.id = static_cast<int64_t>(p)});
    Series series{.process = p, .metric = Metric::rss, .label = "rss"};
    for (int64_t step = 1; step <= steps; ++step) {
      series.mb.push_back(curves[p](static_cast<double>(step)));
    }
    run.series.push_back(std::move(series));
  }
  return run;
}

inline Run with_epoch(Run run, double epoch_steps) {
  run.context.epoch_steps = Fact{epoch_steps, "test"};
  return run;
}

// Repeatable noise, uniform in [-1, 1], without a random device.
class Noise {
 public:
  explicit Noise(uint64_t seed) : state_(seed * 2654435761u + 1) {}
  double operator()() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state_ >> 11) / 4503599627370496.0 - 1.0;
  }

 private:
  uint64_t state_;
};

// The two production logs of the manual, as data: 663 examples, 8 per step.
inline const std::vector<std::pair<int64_t, double>>& production_run1() {
  static const std::vector<std::pair<int64_t, double>> kRun = {
      {10, 5552}, {20, 7159}, {30, 8851}, {40, 10515}, {50, 12227}, {60, 13919}, {70, 15736}};
  return kRun;
}
inline const std::vector<std::pair<int64_t, double>>& production_run2() {
  static const std::vector<std::pair<int64_t, double>> kRun = {
      {10, 5434},   {20, 7017},   {30, 8721},   {40, 10375},  {50, 12000},  {60, 13757},
      {70, 15559},  {80, 17412},  {90, 17658},  {100, 17693}, {110, 17694}, {120, 17694},
      {130, 17437}, {140, 17437}, {150, 17437}, {160, 17378}, {170, 17378}, {180, 17229},
      {190, 17229}, {200, 17051}, {210, 17052}, {220, 17041}, {230, 17033}, {240, 17032}};
  return kRun;
}
inline Run with_production_context(Run run) {
  run.context.examples = Fact{663, "--examples"};
  run.context.batch = Fact{8, "--batch"};
  return run;
}

}  // namespace plateau
