// SPDX-License-Identifier: Apache-2.0
// One job under watch, whoever started it: what is done with a sample, with the words of its loop
// and with its output. `run` (job_loop.h) and `watch` (watcher.h) differ only in where these come
// from and in what they do to the job; what becomes of them is decided here.
//
// The owner runs the loop: it polls socket_fd() and calls read_words() when that is readable, hands
// over news of the output, and calls tick() when seconds_to_tick() is 0. Times count from the start
// that was given. One thread.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "heap/keeper.h"
#include "probe/sampler.h"
#include "session/census_watch.h"
#include "session/heap_watch.h"
#include "session/heard.h"
#include "session/journal.h"
#include "session/machine.h"
#include "session/pace.h"
#include "session/step_hub.h"
#include "session/step_socket.h"
#include "verdict/verdict.h"

namespace plateau {

class Session;

struct SessionOptions {
  std::string recording_path;      // Empty: in memory only.
  bool replace_recording = false;  // Whatever is there.
  double interval_s = 0;           // 0: the default pace.
  Context given;                   // Facts from the command line.
  bool keep_secrets = false;       // In the recording: see base/redact.h.
  ProbeOptions probe;
  std::optional<KeeperOptions> heap;  // Trace allocations.
  double census_share = 0;  // Of the job's time, to see who holds its Python objects; 0: not.
  std::optional<Policy> judged_by;  // Judge as it goes; none: nobody looks at the verdict.
  // Called with every word of the loop, before anything is made of it.
  std::function<void(const StepWords&)> hear = [](const StepWords&) {};
  // Called with one sentence when something happens that the user should see at once.
  std::function<void(const std::string&)> say = [](const std::string&) {};
  // Called after each tick, for those who tell others; nobody if empty.
  std::function<void(Session&)> looked;
};

// What the recording of this job begins with.
RecordingHead head_of(const SessionOptions& options, const std::string& command);

// When watching began.
struct SessionStart {
  double at_s = monotonic_now_s();
  double cpu_s = own_cpu_s();
};

class Session {
 public:
  // Without a sampler nothing is sampled: the job had ended before anybody could look.
  Session(const SessionOptions& options, const SessionStart& start, RecordingWriter recording,
          std::optional<Sampler> sampler, HeapWatch heap);

  [[nodiscard]] double now() const;              // Seconds since the start.
  [[nodiscard]] double seconds_to_tick() const;  // 0 if one is due.
  // Samples and records; judges if that is wanted and a verdict can be afforded (it may cost 0.3 %
  // of one core).
  const Snapshot& tick();

  // Words are taken from this socket from now on, and passed on to whoever subscribes there.
  void listen_at(StepSocket socket) { socket_ = std::move(socket); }
  [[nodiscard]] int socket_fd() const { return socket_ ? socket_->fd() : -1; }
  void read_words();
  void output(std::span<const LineClock::News> news);
  void event(EventKind kind, std::string_view text);
  // A process of ours that is no part of the job.
  void exclude(pid_t pid);

  [[nodiscard]] const Snapshot& snapshot() const { return snapshot_; }  // Of the last tick.
  [[nodiscard]] const Journal& journal() const { return journal_; }
  [[nodiscard]] const HeapWatch& heap() const { return heap_; }
  [[nodiscard]] const CensusWatch& census() const { return census_; }
  [[nodiscard]] const Verdict* verdict() const { return verdict_ ? &*verdict_ : nullptr; }
  [[nodiscard]] double interval_s() const { return pace_.interval_s(now()); }
  [[nodiscard]] double cpu_s() const;  // Of this process and the keeper, since the start.
  // What the last tick could not read, and why nothing is written any more, once.
  [[nodiscard]] std::vector<std::string> troubles();

  // Ends the recording. The Run is what it holds, with heaps. Nothing may be sampled afterwards.
  Run finish(const Ending& ending);

 private:
  void judge_if_due(double at_s);
  void write_heard(double at_s, bool last);

  SessionStart start_;
  std::string proc_;  // Where /proc is.
  std::function<void(const StepWords&)> hear_;
  std::optional<Policy> judged_by_;
  std::function<void(Session&)> looked_;
  Journal journal_;
  std::optional<Sampler> sampler_;
  HeapWatch heap_;
  CensusWatch census_;
  Pace pace_;
  StepHub hub_;
  Heard heard_;
  std::optional<StepSocket> socket_;
  Snapshot snapshot_;
  std::optional<Verdict> verdict_;
  double next_verdict_s_;
  double keeper_cpu_s_ = 0;  // Once it has ended.
  bool step_ended_ = false;  // Since the last sample.
};

}  // namespace plateau
