// SPDX-License-Identifier: Apache-2.0
// Puts rows together into Runs; every reader of this room writes through it.
//
// A reader says row(step, time), then set() for each figure. What the builder decides:
//   Same instant. Figures with the same step (without a step: the same time) share a row. A column
//     given twice at one step keeps the last value, unless the two carry different times: then they
//     are two instants. With Join::same_time, rows of different times are never joined.
//   Restart. A step that goes back starts a new run. One row alone that goes back, to a step after
//     the run's first, and is followed by a step beyond all before, is a late line: it is left out
//     and counted as bad. Without steps the time is used the same way.
//   Size. At most kMaxRows instants and kMaxCells values are kept: past that the lowest and the
//     highest row of each stretch (fewer_rows.h), and the run says so in its notes. A process or
//     column past the cap is left out.
//   Sense. Memory below zero or above kMaxMb is a bad line, never a value. A row without any memory
//     is no sample and is dropped; its gauges go with it.
//
// Facts (examples, batch, …) stated between two runs belong to the later one; facts stated once
// hold for all later runs. Not synchronised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "import/timestamp.h"
#include "import/unit_evidence.h"
#include "recording/facts.h"
#include "recording/run.h"

namespace plateau {

inline constexpr double kMaxMb = 1e9;  // 1 PB, 1e15 bytes: no process has that; a wrong unit does.

// The note of a run that has no clock.
inline constexpr std::string_view kNumberedInOrder =
    "neither steps nor times in the log: samples are numbered in order";

// The note of figures in the kernel's kB.
std::string kernel_kb_note(std::string_view label);

class RunBuilder {
 public:
  static constexpr size_t kMaxRows = 1u << 18;  // More than any verdict looks at.
  static constexpr size_t kMaxCells = 4u << 20;
  static constexpr size_t kMaxRuns = 1000;
  static constexpr size_t kMaxProcesses = 4096;
  static constexpr size_t kMaxColumns = 16384;
  static constexpr size_t kMaxEvents = 100000;
  static constexpr size_t kNone = static_cast<size_t>(-1);

  enum class Join : uint8_t { same_step, same_time };

  explicit RunBuilder(std::string format, Join join = Join::same_step)
      : format_(std::move(format)), join_(join) {}

  // The index of the process the log calls `id`; kNone once there are too many.
  size_t process(int64_t id, bool is_pid);
  // Adds what a log says about it; empty and -1 leave what is known.
  void describe(size_t process, std::string_view name, int64_t parent);

  // Columns last over all runs of a file. kNone in, or too many: kNone out, and set() ignores it.
  size_t memory_column(size_t process, Metric metric, std::string_view label);
  size_t gauge_column(size_t process, std::string_view name);

  // The instant to which the following figures belong.
  void row(const Instant& at, size_t line);
  // Puts a value into the row; false if it makes no sense, which is then counted as a bad line.
  bool set_mb(size_t column, double mb);
  // The same for a figure written in kB. If all of a column in a run are and show pages, they are
  // the kernel's kB, of 1024 bytes, and the run says so; else of 1000.
  bool set_kb(size_t column, double kb);
  void set_gauge(size_t column, double value);

  // Something that happened at the current row, or after it when no row is open.
  void event(EventKind kind, std::string_view text);
  void fact(FactField which, double value, std::string_view source);
  void fact_at_line(FactField which, double value, size_t line);
  // Ends the run whatever the next step is; without `keep_facts` the next one
  // starts from nothing, also about the processes.
  void new_run(bool keep_facts = true);

  void bad(size_t line, std::string_view why);
  void note(std::string_view text);
  void set_epoch_time(bool value) { epoch_time_ = value; }

  // The time of an instant that carries `stamp`; NaN if the log's clock is of another kind.
  double time_of(const Stamp& stamp);

  [[nodiscard]] size_t samples() const { return samples_; }
  // The step or time of the last row that was opened, -1 or NaN before there is one.
  [[nodiscard]] const Instant& last() const { return open_.at; }

  // All runs in file order; the builder is empty afterwards.
  std::vector<Run> finish(size_t lines_read);

 private:
  struct Column {
    size_t process = 0;
    bool is_gauge = false;
    Metric metric = Metric::memory;
    std::string label;           // Key or gauge name.
    std::vector<double> values;  // Of the current run; shorter than the run until padded.
    size_t open_serial = 0;      // The row that last had a value here, and where among its cells.
    size_t open_cell = 0;
    KbEvidence kb;      // Of the current run, unless some
    size_t others = 0;  // are in another unit.
  };
  struct Row {
    bool used = false;
    Instant at;
    size_t line = 0;
    std::vector<std::pair<size_t, double>> cells;
    std::vector<Event> events;
    Context facts;  // Stated since the row before.
    bool has_facts = false;
    bool has_memory = false;
  };

  // Of a gauge if there is no metric.
  size_t column(const std::string& key, size_t process, std::optional<Metric> metric,
                std::string_view label);
  void put(size_t index, double value);
  void open(const Instant& at, size_t line);
  void commit();
  void settle_held(double next_key);
  void append(Row& row);
  void drop(Row& row);
  void keep_events(Row& row);
  [[nodiscard]] size_t most_rows() const;
  void make_room();
  void thin_out(size_t from, size_t group);
  [[nodiscard]] bool is_known(FactField which, double value) const;
  void end_run(size_t next_line);
  [[nodiscard]] double key_of(const Instant& at) const;
  [[nodiscard]] bool goes_back(const Row& row) const;
  void fill_run(Run& run);

  std::string format_;
  Join join_;
  std::vector<Process> processes_;
  std::unordered_map<int64_t, size_t> process_of_;
  std::vector<Column> columns_;
  std::unordered_map<std::string, size_t> column_of_;

  Row open_;                // The row being filled,
  size_t open_serial_ = 0;  // and its number among all rows.
  Row held_;      // A row that goes back, until the next one tells a restart from a late line.
  Instant next_;  // What row() was called with; opened by the first set().
  size_t next_line_ = 0;
  bool joining_ = false;  // next_ names the same instant as open_.

  Run run_;  // Instants, events, bad lines and notes of the current run; columns stay above.
  size_t active_columns_ = 0;
  size_t rows_read_ = 0;  // Of the current run.
  size_t stride_ = 1;     // How many of them a row stands for,
  size_t thinned_ = 0;    // before this one; behind it every row stands for itself.
  size_t run_line_ = 0;   // Where the current run began.
  size_t cells_done_ = 0;
  size_t samples_ = 0;
  bool has_pending_ = false;
  Context pending_;  // Facts since the last row was opened.
  bool epoch_time_ = false;
  TimeTrack times_;
  std::vector<Run> runs_;
  std::vector<size_t> run_lines_;
};

}  // namespace plateau
