// SPDX-License-Identifier: Apache-2.0
// Watches a job that already runs: what `plateau watch` does, without its screen.
//
// Steps are taken from wherever they can be had without touching the job:
//   - a `plateau run` that started it passes its words on (step_hub.h);
//   - a PLATEAU_SOCKET that the job was given and nobody listens to is listened to;
//   - a regular file that its standard output or error goes to is read along.
// Otherwise growth is judged over time.
//
// The owner runs the loop: it polls fds(), calls listen() when one is readable, and tick() when
// due() says so. One thread. The job is never signalled or stopped, unless its heap is to be
// traced: then the tracer is loaded into the one process whose pid was given (inject/inject.h), and
// taken out again at the end.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "heap/keeper.h"
#include "probe/sampler.h"
#include "session/journal.h"
#include "session/pace.h"
#include "verdict/verdict.h"

namespace plateau {

struct WatchOptions {
  pid_t pid = -1;              // Any process of the job.
  std::string recording_path;  // Empty: in memory only.
  double interval_s = 0;       // 0: the default pace.
  Context given;
  Policy policy;
  std::string log;  // A file to read steps from, instead of what is found.
  ProbeOptions probe;
  std::optional<KeeperOptions> heap;  // Trace the allocations of `pid`.
  // Called with one sentence that the user should see.
  std::function<void(const std::string&)> say = [](const std::string&) {};
};

class Watcher {
 public:
  // Fails if there is no such process, the recording cannot be created, or the heap is to be traced
  // and cannot be.
  static Result<Watcher> attach(const WatchOptions& options);

  Watcher(Watcher&&) noexcept;
  Watcher& operator=(Watcher&&) noexcept;
  ~Watcher();

  // To poll for reading; may change with every tick.
  [[nodiscard]] std::vector<int> fds() const;
  void listen();

  [[nodiscard]] double elapsed_s() const;
  [[nodiscard]] double seconds_to_tick() const;  // 0 if one is due.
  // Samples; judges if a verdict can be afforded (it may cost 0.3 % of one core).
  const Snapshot& tick();
  // The job has ended: the last tick found none of its processes.
  [[nodiscard]] bool over() const;

  [[nodiscard]] const Snapshot& snapshot() const;
  [[nodiscard]] const Verdict* verdict() const;  // The latest; nullptr before there is one.
  [[nodiscard]] const Journal& journal() const;
  [[nodiscard]] pid_t root_pid() const;
  [[nodiscard]] const std::string& command() const;      // Of the root, when it was attached to.
  [[nodiscard]] const std::string& step_source() const;  // "the job's output file x.log", ...
  [[nodiscard]] double interval_s() const;
  [[nodiscard]] double cpu_share() const;  // Of one core, this process since attach().
  [[nodiscard]] std::string trouble();     // Of the recording, once.

  void mark(const std::string& text);
  // Ends the recording; what it holds.
  Run finish();

 private:
  struct State;
  explicit Watcher(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace plateau
