// SPDX-License-Identifier: Apache-2.0
#include "session/supervisor.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>

#include "base/units.h"
#include "session/job.h"
#include "session/job_cgroup.h"
#include "session/journal.h"
#include "session/leftovers.h"
#include "session/machine.h"
#include "session/pace.h"
#include "session/signals.h"
#include "session/step_hub.h"
#include "session/step_socket.h"

namespace plateau {
namespace {

constexpr double kRelayGraceSeconds =
    2;  // For output that is still on its way when the job has ended.

class Supervisor {
 public:
  Supervisor(const SupervisorOptions& options, Journal journal, StepSocket socket, Job job,
             Sampler sampler)
      : options_(options),
        journal_(std::move(journal)),
        socket_(std::move(socket)),
        job_(std::move(job)),
        sampler_(std::move(sampler)),
        output_(job_.relays.size()),
        pace_(options.interval_s),
        guard_(options.limit),
        oom_before_(oom_kills_of_machine()) {}

  Outcome run(SignalReader& signals, double start_s);

 private:
  [[nodiscard]] double now() const { return monotonic_s() - start_s_; }
  void wait(SignalReader& signals);
  void read_words();
  void read_output(size_t relay);
  void handle_signal(int number);
  void reap();
  void suspend();
  void tick();
  void guard(const Snapshot& snapshot);
  void end_rest();
  Ending ending() const;

  const SupervisorOptions& options_;
  Journal journal_;
  StepSocket socket_;
  StepHub hub_;
  Job job_;
  Sampler sampler_;
  std::vector<OutputClock> output_;
  Pace pace_;
  LimitGuard guard_;
  int64_t oom_before_;
  double start_s_ = 0;
  ProbeCost cost_;
  std::optional<int> status_;  // Of the job's first process, once it has ended.
  bool step_ended_ = false;    // Since the last sample.
  pid_t main_ = -1;            // The process that does the work, for the signal to save.
};

// Sleeps until something comes or the next sample is due, and deals with what came.
void Supervisor::wait(SignalReader& signals) {
  std::vector<pollfd> polled = {{signals.fd(), POLLIN, 0}, {socket_.fd(), POLLIN, 0}};
  for (const Relay& relay : job_.relays) polled.push_back({relay.copy.get(), POLLIN, 0});
  const double left_s = pace_.next_s(now()) - now();
  const int timeout_ms = std::max(0, static_cast<int>(left_s * 1000) + 1);
  if (poll(polled.data(), polled.size(), timeout_ms) <= 0) return;
  if ((polled[1].revents & POLLIN) != 0) read_words();
  for (size_t i = 0; i < job_.relays.size(); ++i) {
    if (polled[i + 2].revents != 0) read_output(i);
  }
  if ((polled[0].revents & POLLIN) != 0) {
    for (const int number : signals.read_all()) handle_signal(number);
  }
}

void Supervisor::read_words() {
  for (const StepWords& words : socket_.receive()) {
    hub_.words(words);
    step_ended_ = journal_.words(words, now()) || step_ended_;
  }
}

void Supervisor::read_output(size_t relay) {
  Fd& copy = job_.relays[relay].copy;
  std::array<char, 65536> buffer{};
  const ssize_t n = read(copy.get(), buffer.data(), buffer.size());
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) {
    copy.reset();  // poll() ignores a negative descriptor.
    return;
  }
  const std::string_view bytes(buffer.data(), static_cast<size_t>(n));
  for (const LineClock::News& news : output_[relay].read(bytes)) {
    if (!journal_.output(news, now())) continue;
    step_ended_ = true;
    StepWords words;
    words.kind = StepWords::Kind::step;
    words.step = journal_.step();
    words.epoch = news.epoch;
    hub_.words(words);
  }
}

void Supervisor::handle_signal(int number) {
  if (number == SIGCHLD) {
    reap();
  } else if (number == SIGCONT) {
    give_terminal(job_);
    kill(-job_.pid, SIGCONT);
  } else if (!status_) {
    kill(-job_.pid, number);
  }
}

void Supervisor::reap() {
  int status = 0;
  pid_t pid = 0;
  while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
    if (pid != job_.pid) continue;
    if (WIFSTOPPED(status)) {
      suspend();
    } else {
      status_ = status;
    }
  }
}

// Ctrl-Z stopped the job: stop with it, as the shell expects of a job, and go on with it.
void Supervisor::suspend() {
  if (!job_.has_terminal) return;
  take_terminal();
  kill(getpid(), SIGSTOP);
  give_terminal(job_);
  kill(-job_.pid, SIGCONT);
}

void Supervisor::tick() {
  const double at_s = now();
  const Snapshot snapshot = sampler_.sample(monotonic_s());
  pace_.sampled(at_s);
  step_ended_ = false;
  cost_ = snapshot.cost;
  journal_.sample(snapshot, at_s);
  for (const std::string& complaint : snapshot.complaints) options_.say(complaint);
  if (const std::string trouble = journal_.recording().trouble(); !trouble.empty()) {
    options_.say(trouble);
  }
  for (const ProcessSample& process : snapshot.processes) {
    if (process.role == Role::main) main_ = process.key.pid;
  }
  guard(snapshot);
}

void Supervisor::guard(const Snapshot& snapshot) {
  if (options_.limit.limit_mb <= 0) return;
  const double mb = held_mb(snapshot);
  const pid_t target = main_ > 0 ? main_ : job_.pid;
  const bool can_save = options_.save_signal > 0 && handles_signal(target, options_.save_signal);
  const LimitAction action = guard_.check(mb, now(), can_save);
  if (action == LimitAction::none) return;
  std::string what;
  switch (action) {
    case LimitAction::none:
      return;
    case LimitAction::warn:
      what = "the job goes on";
      break;
    case LimitAction::save:
      what = fmt::format("asked pid {} to save (signal {})", target, options_.save_signal);
      kill(target, options_.save_signal);
      break;
    case LimitAction::terminate:
      what = "asked the job to end (SIGTERM)";
      kill(-job_.pid, SIGTERM);
      break;
    case LimitAction::kill:
      what = "ended the job (SIGKILL)";
      kill(-job_.pid, SIGKILL);
      break;
  }
  const std::string text = fmt::format("memory {} with a limit of {}: {}", format_mb(mb),
                                       format_mb(options_.limit.limit_mb), what);
  journal_.event(EventKind::mark, text, now());
  options_.say(text);
}

Ending Supervisor::ending() const {
  Ending end;
  if (WIFSIGNALED(*status_)) {
    end.kind = Ending::Kind::signaled;
    end.code = WTERMSIG(*status_);
    const bool oom = end.code == SIGKILL && oom_kills_of_machine() > oom_before_;
    if (oom) end.kind = Ending::Kind::oom_killed;
  } else {
    end.kind = Ending::Kind::exited;
    end.code = WEXITSTATUS(*status_);
  }
  if (guard_.acted()) {
    end.text = fmt::format("ended by --on-limit at {}", format_mb(options_.limit.limit_mb));
  }
  return end;
}

void Supervisor::end_rest() {
  take_terminal();
  std::vector<pid_t> relays;
  for (const Relay& relay : job_.relays) relays.push_back(relay.pid);
  if (!options_.keep_orphans) {
    const std::vector<pid_t> left = children_left(relays);
    if (!left.empty()) {
      const std::string text =
          fmt::format("{} process{} outlived the job and {} ended (--keep-orphans leaves them)",
                      left.size(), left.size() == 1 ? "" : "es", left.size() == 1 ? "was" : "were");
      journal_.event(EventKind::mark, text, now());
      options_.say(text);
    }
    end_leftovers(job_.pid, relays, options_.orphan_grace_s);
  }
  // The relays end by themselves once the last writer has; what they carried last is read here.
  const double deadline_s = now() + kRelayGraceSeconds;
  for (size_t i = 0; i < job_.relays.size(); ++i) {
    while (job_.relays[i].copy && now() < deadline_s) {
      pollfd ready = {job_.relays[i].copy.get(), POLLIN, 0};
      if (poll(&ready, 1, 50) > 0) read_output(i);
    }
  }
  reap();
}

Outcome Supervisor::run(SignalReader& signals, double start_s) {
  start_s_ = start_s;
  tick();
  while (!status_) {
    wait(signals);
    if (status_) break;
    if (pace_.due(now()) || (step_ended_ && pace_.due_after_step(now()))) tick();
    reap();  // SIGCHLD may have come before it was blocked.
  }
  read_words();
  end_rest();
  Outcome outcome;
  outcome.ending = ending();
  outcome.exit_code = exit_code_of(*status_);
  outcome.stopped_by_limit = guard_.acted();
  outcome.elapsed_s = now();
  outcome.cost = cost_;
  if (outcome.ending.kind == Ending::Kind::oom_killed) {
    journal_.event(EventKind::oom, "the kernel killed the job for want of memory", now());
  }
  journal_.recording().finish(outcome.ending);
  outcome.run = journal_.recording().run();
  return outcome;
}

RecordingHead head_of(const SupervisorOptions& options) {
  RecordingHead head;
  head.command = shell_words(options.command);
  head.host = host_name();
  head.plateau_version = PLATEAU_VERSION;
  head.started_unix_s = static_cast<double>(time(nullptr));
  head.interval_s = options.interval_s;
  return head;
}

// "ours", or "ours:theirs" under another watcher: every one of them is told.
std::string socket_variable(const std::string& path) {
  const char* outer = std::getenv("PLATEAU_SOCKET");
  const bool nested = outer != nullptr && outer[0] != '\0';
  return "PLATEAU_SOCKET=" + path + (nested ? ":" + std::string(outer) : "");
}

std::optional<JobCgroup> backstop(const SupervisorOptions& options) {
  if (options.limit.limit_mb <= 0 || options.limit.on_limit == OnLimit::warn) return std::nullopt;
  Result<JobCgroup> group =
      JobCgroup::create(options.probe.cgroup_root, text_of_file("/proc/self/cgroup"),
                        backstop_mb(options.limit.limit_mb));
  if (group) return std::move(group.value());
  options.say(group.error().message);
  return std::nullopt;
}

Supervised failure(std::string message, int exit_code = 2) {
  return {std::nullopt, {std::move(message), exit_code}};
}

}  // namespace

Supervised supervise(const SupervisorOptions& options) {
  Result<RecordingWriter> writer =
      RecordingWriter::create(options.recording_path, head_of(options));
  if (!writer) return failure(writer.error().message);
  Result<StepSocket> socket = StepSocket::create();
  if (!socket) return failure(socket.error().message);
  Journal journal(std::move(writer.value()));
  journal.facts(options.given);
  const std::optional<JobCgroup> group = backstop(options);
  SignalReader signals({SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT});

  const double cpu_before_s = own_cpu_s();
  JobRequest request;
  request.command = options.command;
  request.environment = {socket_variable(socket.value().path())};
  if (group) request.cgroup_procs = group->procs_file();
  const double start_s = monotonic_s();
  Started started = start_job(request);
  // From here on a job runs, and every way out waits for it.
  if (!started.job) {
    return failure(started.failure.error.message, started.failure.exit_code);
  }
  ProbeOptions probe = options.probe;
  probe.exclude.push_back(getpid());
  for (const Relay& relay : started.job->relays) probe.exclude.push_back(relay.pid);
  Result<Sampler> sampler = Sampler::of_pid(started.job->pid, probe, true);
  if (!sampler) return failure(sampler.error().message);
  Supervisor supervisor(options, std::move(journal), std::move(socket.value()),
                        std::move(*started.job), std::move(sampler.value()));
  Outcome outcome = supervisor.run(signals, start_s);
  outcome.watch_cpu_s = own_cpu_s() - cpu_before_s;
  return {std::move(outcome), {}};
}

}  // namespace plateau
