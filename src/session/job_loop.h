// SPDX-License-Identifier: Apache-2.0
// The poll loop around a job that runs: signals, words, output and samples until it has ended.
//
// How the job is started, and with what around it, is supervisor.cc's; what the loop promises is in
// supervisor.h.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "session/approach.h"
#include "session/job.h"
#include "session/limit_guard.h"
#include "session/missing_module.h"
#include "session/session.h"
#include "session/signals.h"
#include "session/supervisor.h"

namespace plateau {

class JobLoop {
 public:
  // `session` began when the job was started. Requires: `options` outlives the loop.
  JobLoop(const SupervisorOptions& options, Session session, Job job);

  // Until the job has ended, its output is carried and what it left behind is dealt with.
  JobOutcome run(SignalReader& signals);

 private:
  void wait(SignalReader& signals, double seconds);
  void read_output(size_t relay);
  void handle_signal(int number);
  void reap();
  void relay_ended(pid_t pid, int status);
  void suspend(int stop_signal);
  void tick();
  [[nodiscard]] double seconds_to_look() const;  // 0 if a tick is due, for whatever reason.
  void end_if_enough();
  void guard(const Snapshot& snapshot);
  [[nodiscard]] std::string act(LimitAction action, pid_t target) const;
  void tell(const std::string& text);
  void end_leftovers_of_job();
  void carry_rest(SignalReader& signals);
  [[nodiscard]] Ending ending() const;

  const SupervisorOptions& options_;
  Session session_;
  Job job_;
  std::vector<OutputClock> output_;
  LimitGuard guard_;
  Approach approach_;
  MissingModule missing_module_;
  double next_look_s_ = std::numeric_limits<double>::infinity();  // At the limit.
  int64_t oom_before_;
  std::optional<int> status_;  // Of the job's first process, once it has ended.
  bool interrupted_ = false;
  std::optional<double> asked_to_end_s_;  // When options_.enough said so,
  bool killed_ = false;                   // and whether asking was in vain.
  bool orphans_stay_ = false;  // Something of the job goes on and may hold its output open.
  pid_t main_ = -1;            // The process that does the work, for the signal to save.
};

}  // namespace plateau
