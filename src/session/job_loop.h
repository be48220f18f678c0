// SPDX-License-Identifier: Apache-2.0
// The poll loop around a job that runs: signals, words, output and samples until it has ended.
//
// How the job is started, and with what around it, is supervisor.cc's; what the loop promises is in
// supervisor.h.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "probe/sampler.h"
#include "session/heap_watch.h"
#include "session/job.h"
#include "session/journal.h"
#include "session/limit_guard.h"
#include "session/pace.h"
#include "session/signals.h"
#include "session/step_hub.h"
#include "session/step_socket.h"
#include "session/supervisor.h"

namespace plateau {

class JobLoop {
 public:
  // Without a sampler nothing is sampled: the job had ended before anybody could look.
  // Requires: `options` outlives the loop.
  JobLoop(const SupervisorOptions& options, Journal journal, StepSocket socket, Job job,
          std::optional<Sampler> sampler, HeapWatch heap);

  // Until the job has ended, its output is carried and what it left behind is dealt with.
  // `start_s` is when it was started, on the monotonic clock; `cpu_before_s` is own_cpu_s() when
  // watching began.
  JobOutcome run(SignalReader& signals, double start_s, double cpu_before_s);

 private:
  [[nodiscard]] double now() const;  // Seconds since the job was started.
  void wait(SignalReader& signals);
  void read_words();
  void read_output(size_t relay);
  void handle_signal(int number);
  void reap();
  void suspend(int stop_signal);
  void tick();
  void guard(const Snapshot& snapshot);
  void end_leftovers_of_job();
  void carry_rest(SignalReader& signals);
  [[nodiscard]] Ending ending() const;

  const SupervisorOptions& options_;
  Journal journal_;
  StepSocket socket_;
  StepHub hub_;
  Job job_;
  std::optional<Sampler> sampler_;
  HeapWatch heap_;
  std::vector<OutputClock> output_;
  Pace pace_;
  LimitGuard guard_;
  int64_t oom_before_;
  double start_s_ = 0;
  double cpu_before_s_ = 0;  // Of this process, when watching began.
  ProbeCost cost_;
  std::optional<int> status_;  // Of the job's first process, once it has ended.
  bool step_ended_ = false;    // Since the last sample.
  bool interrupted_ = false;
  bool orphans_stay_ = false;  // Something of the job goes on and may hold its output open.
  pid_t main_ = -1;            // The process that does the work, for the signal to save.
};

}  // namespace plateau
