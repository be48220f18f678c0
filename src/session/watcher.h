// SPDX-License-Identifier: Apache-2.0
// Watches a job that already runs: what `plateau watch` does, without its screen.
//
// Steps are taken from wherever they can be had without touching the job:
//   - a `plateau run` that started it passes its words on (step_hub.h);
//   - a PLATEAU_SOCKET that the job was given and nobody listens to is listened to;
//   - a regular file that its standard output or error goes to is read along.
// Otherwise growth is judged over time. On request our module is brought into a Python process that
// no `plateau run` has started.
//
// The owner runs the loop: it polls session().socket_fd(), calls listen() when that is readable,
// and tick() when session().seconds_to_tick() is 0. One thread. The job is never signalled or
// stopped, unless its heap is to be traced: then the tracer is loaded into the one process whose
// pid was given (inject/inject.h), and taken out again at the end.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "session/session.h"
#include "session/step_sources.h"

namespace plateau {

struct WatchOptions : SessionOptions {
  pid_t pid = -1;   // Any process of the job; the one whose heap is traced.
  std::string log;  // A file to read steps from, instead of what is found.
  // Bring our module into process `pid`, to learn its steps (auto_module.h).
  bool learns_steps = false;
};

class Watcher {
 public:
  // Fails if there is no such process, the recording cannot be created or would replace another, or
  // the heap is to be traced and cannot be; then nothing is left behind.
  static Result<Watcher> attach(const WatchOptions& options);

  void listen();
  const Snapshot& tick();
  // The job has ended: the last tick found none of its processes.
  [[nodiscard]] bool over() const { return over_; }

  Session& session() { return session_; }
  [[nodiscard]] const Session& session() const { return session_; }
  [[nodiscard]] pid_t root_pid() const { return root_pid_; }
  [[nodiscard]] const std::string& command() const { return command_; }  // Of the root.
  // "the job's output in x.log", ...
  [[nodiscard]] const std::string& step_source() const { return step_source_; }

  // Ends the recording, which is what the Run holds.
  Run finish();

 private:
  Watcher(const WatchOptions& options, Session session)
      : options_(options), session_(std::move(session)) {}
  static Result<Watcher> attach_claimed(const WatchOptions& options);
  void find_steps(const Snapshot& first);
  bool find_hub(pid_t pid);
  bool bring_module();
  bool listen_for(pid_t pid);
  bool find_file(pid_t pid);

  WatchOptions options_;
  Session session_;
  std::vector<FileFollower> files_;
  std::string command_;
  pid_t root_pid_ = -1;
  std::string step_source_ = "none found: growth is judged over time";
  bool over_ = false;
};

}  // namespace plateau
