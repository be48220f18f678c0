// SPDX-License-Identifier: Apache-2.0
// The clocks of a text log, each with the runs that it builds; text_log.cc says why there are
// several and which one wins.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "import/run_builder.h"
#include "import/text_context.h"
#include "import/text_scan.h"
#include "import/timestamp.h"
#include "recording/run.h"

namespace plateau {

// The epoch in which a line stands: the one that it names, or the last "Epoch 2" before it. A log
// that names fractions of epochs is believed in those alone.
class LineEpoch {
 public:
  // Requires: called with every line. True if a whole epoch begins here that is not the first.
  bool read(const LineFacts& line);
  [[nodiscard]] double whole() const { return whole_; }  // -1: no whole one was named.
  [[nodiscard]] double of_line() const { return of_line_; }

 private:
  double whole_ = -1;
  double of_line_ = kMissing;
  bool fractions_ = false;
};

// Makes positions that start again in each epoch count on.
class Unroller {
 public:
  // What a position means that goes back while no new epoch is named: a log may hold another run;
  // a job that is watched is the same one still.
  enum class Back : uint8_t { new_run, same_run };

  explicit Unroller(Back back = Back::new_run) : back_(back) {}

  // Returns the step since the start. `epoch` is -1 if the line does not say.
  int64_t unroll(int64_t position, int64_t total, double epoch);
  // Whether the last position began a new epoch.
  [[nodiscard]] bool wrapped() const { return wrapped_; }
  // What the last position says about the length of an epoch or of the run. `total` is 0 if the
  // line has none; `of_epoch`: the line says that its total is an epoch's.
  [[nodiscard]] std::optional<std::pair<FactField, double>> fact(int64_t total,
                                                                 bool of_epoch) const;

 private:
  void wrap(int64_t length, int64_t epochs);

  Back back_;
  int64_t last_ = 0;
  int64_t offset_ = 0;
  int64_t epoch_length_ = 0;  // 0: none has ended yet.
  double last_epoch_ = -1;
  bool wrapped_ = false;
};

// Ordered by preference.
enum class LogClockKind : uint8_t { step, iteration, batch, bar, time, none };

struct LogClock {
  LogClock(LogClockKind clock_kind, int64_t bar_total);

  LogClockKind kind;
  int64_t total;  // Of a bar; 0 for the others.
  RunBuilder builder;
  Unroller steps;
  double last_time = kMissing;
  double time_offset = 0;
  bool placed = false;                            // Some row carries a step or a time.
  std::array<double, kMetricCount> bare_units{};  // Units guessed for figures that name none.
  std::array<size_t, kMetricCount> columns{};     // Of process 0, the common case.
  std::array<size_t, 3> gauges{};
};

class LogClocks {
 public:
  [[nodiscard]] bool empty() const { return clocks_.empty(); }

  // The clock of this kind, and of this total if it is a bar; made if there is none yet. Bars
  // beyond the first few are no clocks of their own. The clock stays where it is.
  LogClock& of(LogClockKind kind, int64_t total);

  // Events and facts hold for all clocks; a fact also for those that come later.
  void event(EventKind kind, std::string_view text);
  void fact(FactField field, double value, size_t line);

  // The first in the order of preference that has at least a quarter of the samples of the
  // largest; null if none has any.
  LogClock* best();

 private:
  std::vector<std::unique_ptr<LogClock>> clocks_;
  Context stated_;
};

}  // namespace plateau
