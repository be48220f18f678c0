// SPDX-License-Identifier: Apache-2.0
// Named figures that come one by one, each with its own moment, into the rows of a Run.
//
// Loggers of metrics (TensorBoard, MLflow, Weights & Biases) write no table: every figure has a
// time and perhaps a step, and what samples the machine knows no step at all. This puts them in
// the order of time and gives each the step that the training was at:
//   - The clock is what the reader calls clock() with, and failing that the figure with most
//   points.
//   - A figure keeps its own step where that lies between the clock's steps around it in time. A
//     step that does not is of another count (epochs, samples taken) and is replaced by the clock's
//     last one before; what comes before the first takes the first.
//   - Steps are left out where fewer than half of the moments have a step of their own: then
//     several samples would stand at one step, and the time tells them apart.
//
// Worked case: memory every 15 s, a step every 0.4 s: of 240 samples all have a step of their own,
// and the run is counted in steps. Memory every second and one step an epoch of 600 s: 240 samples
// share one step, and the run is counted in seconds.
//
// A rank or worker in a name ("rank3/rss_mb") is a process, and what is left is the figure. Of two
// names for the same figure the one with more points is kept; a note names the other. Past
// kMaxPoints every second point of each figure is dropped. Not synchronised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "import/column_role.h"
#include "import/run_builder.h"

namespace plateau {

class RecordRows;

class FigureTable {
 public:
  static constexpr size_t kMaxPoints = 4u << 20;
  static constexpr size_t kMaxNames = 4096;
  static constexpr size_t kNotMemory = static_cast<size_t>(-1);

  // The number of a figure, kNotMemory if its name means something else. What a name means is
  // asked once; `role` is called for it.
  template <typename Role>
  size_t figure(std::string_view name, Role role) {
    if (const auto known = figure_of_.find(std::string(name)); known != figure_of_.end()) {
      return known->second;
    }
    return announce(name, role(name));
  }

  // The figures that follow are of this process; "" for the only one.
  void process(std::string_view label);

  // A step of -1 and a time of NaN say that it is not known; a figure needs one of them.
  void add(size_t figure, double time_s, int64_t step, double value);
  void clock(double time_s, int64_t step);

  [[nodiscard]] bool empty() const { return points_.empty(); }
  // The first and the last moment of figures since begin_span(); NaN if there were none.
  void begin_span() { span_from_s_ = span_to_s_ = kMissing; }
  [[nodiscard]] double span_from_s() const { return span_from_s_; }
  [[nodiscard]] double span_to_s() const { return span_to_s_; }
  // "'loss', 'lr' and 12 more": the names that are not memory; "" if there were none.
  [[nodiscard]] std::string other_names() const;

  // All points as rows of `builder`. The table is empty afterwards.
  void write(RunBuilder& builder);

 private:
  struct Point {
    double time_s;
    int64_t step;
    double value;
    uint32_t figure;
    uint32_t process;
  };
  struct Figure {
    std::string name;  // Without the process in it.
    ColumnRole role;
    uint32_t process = 0;  // That its name says; 0 if it says none.
    size_t points = 0;
    bool odd = false;  // Of points dropped by thinning.
  };
  struct Tick {
    double time_s;
    int64_t step;
  };

  size_t announce(std::string_view name, const ColumnRole& role);
  void thin_out();
  void take_clock_of_largest();
  void place_in_steps();
  void sort_by_time();
  bool sort_by_step_of_each();
  std::vector<size_t> announce_keys(RecordRows& rows) const;
  [[nodiscard]] bool steps_tell_apart() const;
  [[nodiscard]] bool has_several_processes() const;
  uint32_t process_number(std::string_view label);

  std::vector<Figure> figures_;
  std::unordered_map<std::string, size_t> figure_of_;
  std::vector<std::string> processes_ = {""};
  uint32_t process_ = 0;
  std::vector<Point> points_;
  std::vector<Tick> ticks_;
  size_t tick_stride_ = 1;
  size_t ticks_skipped_ = 0;
  bool thinned_ = false;
  double span_from_s_ = kMissing;
  double span_to_s_ = kMissing;
  std::vector<std::string> others_;
  size_t other_count_ = 0;
};

// The process that a name speaks of: "rank 3" for "rank3/rss_mb", "perf/rank_3/rss_mb" and
// "rss_mb.rank:3", with what is left of the name. Empty if it speaks of none.
struct ProcessInName {
  std::string label;
  std::string rest;
};
ProcessInName process_in_name(std::string_view name);

}  // namespace plateau
