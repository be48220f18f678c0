// SPDX-License-Identifier: Apache-2.0
// Turns what is seen (snapshots of the job, words from its loop, lines of its output) into a
// recording.
//
// Each process becomes a set of columns, opened when it is first seen. Steps come from the loop's
// own words; until there are any, from the output. They never go back: a smaller one is ignored, so
// a late line cannot fold the clock. One Journal per recording, one thread.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "import/line_clock.h"
#include "probe/snapshot.h"
#include "recording/recording.h"
#include "session/precedence.h"
#include "session/step_words.h"

namespace plateau {

class Journal {
 public:
  explicit Journal(RecordingWriter recording) : recording_(std::move(recording)) {}

  // `at_s` counts from the start of the recording everywhere. A snapshot that is not whole leaves
  // no row.
  void sample(const Snapshot& snapshot, double at_s);
  // What watching has cost so far, for the next sample: CPU seconds of the watcher and its helpers,
  // and the largest share of a process's time under page-table walks. Kept as it was until it has
  // grown by a twentieth, so that it costs the recording a few bytes for each doubling of the run.
  void cost(double watcher_cpu_s, double walk_share);
  // True if a step ended: the moment to sample.
  bool words(const StepWords& words, double at_s);
  bool output(const LineClock::News& news, double at_s);
  void event(EventKind kind, std::string_view text, double at_s);
  void fact(FactField which, double value, std::string_view source, std::string_view text = {});
  // All facts that `given` holds; with facts_of_user() no module inside the job says otherwise.
  void facts(const Context& given);
  void facts_of_user(const Context& given);

  // Ends the recording; a note says how many samples were not whole, if they are many.
  void finish(const Ending& ending);

  [[nodiscard]] int64_t step() const { return step_; }
  [[nodiscard]] double epoch() const { return epoch_; }
  [[nodiscard]] const Context& stated() const { return stated_; }
  RecordingWriter& recording() { return recording_; }
  [[nodiscard]] const RecordingWriter& recording() const { return recording_; }

 private:
  struct Known {
    size_t index = 0;
    Process described;
    std::array<size_t, kProcessFigures.size()> columns;  // Of each figure in the recording.
  };

  Known& known(const ProcessSample& process);
  void add_process(const ProcessSample& process, Sample& row);
  void add_machine(const Snapshot& snapshot, Sample& row);
  void gauge(Sample& row, size_t process, std::string_view name, double value);
  void state_limit(const Snapshot& snapshot);
  void learn_launch(const Context& told);
  void learn_rank(StepWords& words);
  bool advance(int64_t step, double epoch);
  void learn_epoch_steps();

  RecordingWriter recording_;
  std::map<ProcessKey, Known> known_;
  std::map<std::pair<size_t, std::string>, size_t> gauges_;
  std::map<std::string, std::pair<size_t, double>, std::less<>> said_;  // Gauges from the loop.
  int64_t step_ = -1;
  double epoch_ = kMissing;
  Precedence precedence_;
  std::set<pid_t> alive_;                  // As of the last sample.
  std::map<int64_t, int64_t> ranks_said_;  // By pid.
  bool loop_speaks_ = false;  // Steps came as words; the output is no longer asked for them.
  bool epoch_stated_ = false;
  EpochRatio ratio_;
  double epoch_steps_ = 0;  // As last stated from the ratio.
  Context stated_;
  double cost_cpu_s_ = -1;  // As last written; none yet if negative.
  double cost_walk_share_ = 0;
  int64_t oom_kills_ = kUnread;
  size_t torn_ = 0;  // Samples that were not whole.
};

}  // namespace plateau
