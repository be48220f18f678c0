// SPDX-License-Identifier: Apache-2.0
#include "session/job_loop.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/poll_all.h"
#include "base/units.h"
#include "session/job_cgroup.h"
#include "session/leftovers.h"
#include "session/machine.h"

namespace plateau {
namespace {

// For output that is still on its way when the job has ended, while something may yet write more.
constexpr double kRelayGraceSeconds = 2;
constexpr double kRelayLookSeconds = 0.05;
// Helpers that end by themselves right after the job (Python's resource tracker) are no leftovers.
constexpr double kHelperGraceSeconds = 0.5;
// Between asking a job to end that has shown enough, and ending it.
constexpr double kEndGraceSeconds = 3;

}  // namespace

JobLoop::JobLoop(const SupervisorOptions& options, Session session, Job job)
    : options_(options),
      session_(std::move(session)),
      job_(std::move(job)),
      output_(job_.relays.size()),
      guard_(options.limit),
      oom_before_(oom_kills_of_machine()) {}

// Sleeps until something comes or the time has passed, and deals with what came.
void JobLoop::wait(SignalReader& signals, double seconds) {
  std::vector<pollfd> polled = {{signals.fd(), POLLIN, 0}, {session_.socket_fd(), POLLIN, 0}};
  for (const Relay& relay : job_.relays) polled.push_back({relay.copy.get(), POLLIN, 0});
  const int timeout_ms = static_cast<int>(seconds * 1000) + 1;
  if (poll_all(polled, timeout_ms) <= 0) return;
  if ((polled[1].revents & POLLIN) != 0) session_.read_words();
  for (size_t i = 0; i < job_.relays.size(); ++i) {
    if (polled[i + 2].revents != 0) read_output(i);
  }
  if ((polled[0].revents & POLLIN) != 0) {
    for (const int number : signals.read_all()) handle_signal(number);
  }
}

void JobLoop::read_output(size_t relay) {
  Fd& copy = job_.relays[relay].copy;
  std::array<char, 65536> buffer{};
  const ssize_t n = read(copy.get(), buffer.data(), buffer.size());
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) {
    session_.output(output_[relay].finish());
    copy.reset();  // poll() ignores a negative descriptor.
    return;
  }
  session_.output(output_[relay].read({buffer.data(), static_cast<size_t>(n)}));
}

// A signal to us is one to the job. Those that ask for an end reach its whole group, as from a
// terminal; the others mean something to the process that was started and would kill its helpers.
void JobLoop::handle_signal(int number) {
  switch (number) {
    case SIGCHLD:
      reap();
      return;
    case SIGCONT:
      give_terminal(job_);
      kill(-job_.pid, SIGCONT);
      return;
    case SIGUSR1:
    case SIGUSR2:
      if (!status_) kill(job_.pid, number);
      return;
    default:
      interrupted_ = true;
      if (!status_) kill(-job_.pid, number);
  }
}

void JobLoop::reap() {
  int status = 0;
  pid_t pid = 0;
  while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
    if (pid != job_.pid) {
      relay_ended(pid, status);
      continue;
    }
    if (WIFSTOPPED(status)) {
      suspend(WSTOPSIG(status));
    } else {
      status_ = status;
    }
  }
}

// A relay that was killed is replaced before the job notices: what it had read and not yet written
// is lost, what comes after is not. One that has ended by itself, because nobody writes or nobody
// reads, stays so, and the job hears of that as it would without us.
void JobLoop::relay_ended(pid_t pid, int status) {
  for (Relay& relay : job_.relays) {
    if (relay.pid != pid || WIFSTOPPED(status)) continue;
    if (!WIFSIGNALED(status)) relay.spare.our_end.reset();
    if (!relay.spare.our_end) continue;
    Channel spare = spare_of(relay.spare);
    Result<Relay> next = start_relay(relay.spare, job_.pid);
    if (!next) continue;
    next.value().spare = std::move(spare);
    relay = std::move(next.value());
    session_.exclude(relay.pid);
    tell("the process that carries the job's output was killed; another took its place");
  }
}

// The job was stopped. If it wants the terminal and that is ours to give (the shell has brought us
// to the foreground), it gets it. If the terminal stopped it (Ctrl-Z), our own group is stopped as
// it would have been without us, so that the shell takes over; where there is no shell to wake us
// again, the kernel drops that signal and the job goes on at once.
void JobLoop::suspend(int stop_signal) {
  const bool by_terminal =
      stop_signal == SIGTSTP || stop_signal == SIGTTIN || stop_signal == SIGTTOU;
  if (!by_terminal) return;
  if (stop_signal != SIGTSTP && give_terminal(job_)) {
    kill(-job_.pid, SIGCONT);
    return;
  }
  take_terminal(job_);
  kill(0, SIGTSTP);
  give_terminal(job_);
  kill(-job_.pid, SIGCONT);
}

void JobLoop::tick() {
  const Snapshot& snapshot = session_.tick();
  for (const std::string& trouble : session_.troubles()) options_.say(trouble);
  for (const ProcessSample& process : snapshot.processes) {
    if (process.role == Role::main) main_ = process.key.pid;
  }
  if (options_.learns_steps) {
    const std::string missing = missing_module_.look(main_, session_.now());
    if (!missing.empty()) tell(missing);
  }
  guard(snapshot);
}

// The job is not asked again and again: somebody may just be writing a file.
void JobLoop::end_if_enough() {
  if (!asked_to_end_s_) {
    if (!options_.enough()) return;
    asked_to_end_s_ = session_.now();
    kill(-job_.pid, SIGTERM);
    kill(-job_.pid, SIGCONT);
  } else if (!killed_ && session_.now() - *asked_to_end_s_ > kEndGraceSeconds) {
    killed_ = true;
    kill(-job_.pid, SIGKILL);
  }
}

// What we did to the job, for the user and for the recording.
void JobLoop::tell(const std::string& text) {
  session_.event(EventKind::mark, text);
  options_.say(text);
}

double JobLoop::seconds_to_look() const {
  return std::min(session_.seconds_to_tick(), std::max(0.0, next_look_s_ - session_.now()));
}

// Does it, and says what was done.
std::string JobLoop::act(LimitAction action, pid_t target) const {
  switch (action) {
    case LimitAction::none:
      break;
    case LimitAction::warn:
      return "the job goes on";
    case LimitAction::save:
      kill(target, options_.save_signal);
      return fmt::format("asked pid {} to save (signal {})", target, options_.save_signal);
    case LimitAction::terminate:
      kill(-job_.pid, SIGTERM);
      return "asked the job to end (SIGTERM)";
    case LimitAction::kill:
      kill(-job_.pid, SIGKILL);
      return "ended the job (SIGKILL)";
  }
  return "";
}

void JobLoop::guard(const Snapshot& snapshot) {
  const double limit_mb = options_.limit.limit_mb;
  if (limit_mb <= 0 || !snapshot.whole) return;
  // In a cgroup of its own the job is also charged for what no process of the tree shows.
  const bool own_group = snapshot.cgroup.path.ends_with("/" + job_cgroup_name());
  const double mb = std::max(held_mb(snapshot), own_group ? charged_mb(snapshot.cgroup) : 0);
  const pid_t target = main_ > 0 ? main_ : job_.pid;
  const bool can_save = options_.save_signal > 0 && handles_signal(target, options_.save_signal);
  const double now_s = session_.now();
  approach_.look(mb, now_s, session_.journal().step());
  const double ahead_mb = approach_.ahead_mb(limit_mb);
  const LimitAction action = guard_.check(mb, now_s, can_save, ahead_mb);
  const bool hurry = options_.limit.on_limit != OnLimit::warn && !guard_.acted();
  next_look_s_ = std::numeric_limits<double>::infinity();
  if (hurry) next_look_s_ = now_s + approach_.look_in_s(limit_mb);
  const std::string what = act(action, target);
  if (what.empty()) return;
  const bool early = mb < limit_mb && action != LimitAction::warn;
  tell(fmt::format("memory {} with a limit of {}{}: {}", format_mb(mb), format_mb(limit_mb),
                   early ? fmt::format(", and {} to come", format_mb(ahead_mb)) : "", what));
}

Ending JobLoop::ending() const {
  Ending end;
  // A shell around the job reports its child's death as 128 + signal.
  const bool killed = exit_code_of(*status_) == 128 + SIGKILL;
  if (killed && oom_kills_of_machine() > oom_before_) {
    end.kind = Ending::Kind::oom_killed;
    end.code = SIGKILL;
  } else if (WIFSIGNALED(*status_)) {
    end.kind = Ending::Kind::signaled;
    end.code = WTERMSIG(*status_);
  } else {
    end.kind = Ending::Kind::exited;
    end.code = WEXITSTATUS(*status_);
  }
  if (guard_.acted()) {
    end.text = fmt::format("ended by --on-limit at {}", format_mb(options_.limit.limit_mb));
  }
  return end;
}

void JobLoop::end_leftovers_of_job() {
  std::vector<pid_t> ours(job_.relays.size());
  std::transform(job_.relays.begin(), job_.relays.end(), ours.begin(),
                 [](const Relay& relay) { return relay.pid; });
  if (session_.heap().pid() > 0) ours.push_back(session_.heap().pid());
  if (session_.census().pid() > 0) ours.push_back(session_.census().pid());
  ours.insert(ours.end(), options_.companions.begin(), options_.companions.end());
  const std::vector<pid_t> errands = options_.errands();
  ours.insert(ours.end(), errands.begin(), errands.end());
  size_t left = children_left(ours).size();
  const double deadline_s = monotonic_now_s() + kHelperGraceSeconds;
  while (left > 0 && monotonic_now_s() < deadline_s) {
    poll(nullptr, 0, 10);
    left = children_left(ours).size();
  }
  if (left == 0) return;
  end_leftovers(job_.pid, ours, options_.orphan_grace_s);
  // Somebody else's process (sudo) is not ours to end.
  const size_t stayed = children_left(ours).size();
  orphans_stay_ = stayed > 0;
  const size_t told = orphans_stay_ ? stayed : left;
  const std::string_view end = orphans_stay_ ? "could not be ended"
                               : told == 1   ? "was ended (--keep-orphans leaves it)"
                                             : "were ended (--keep-orphans leaves them)";
  tell(fmt::format("{} process{} outlived the job and {}", told, told == 1 ? "" : "es", end));
}

// The relays end by themselves once the last writer has, and once a slow reader has taken all: that
// is waited for, as the job itself would have waited, until somebody interrupts. Orphans that stay
// may write for ever, so they are not.
void JobLoop::carry_rest(SignalReader& signals) {
  const double deadline_s = monotonic_now_s() + kRelayGraceSeconds;
  const auto open = [&] {
    return std::any_of(job_.relays.begin(), job_.relays.end(),
                       [](const Relay& relay) { return relay.copy.open(); });
  };
  interrupted_ = false;
  while (open() && !interrupted_ && !(orphans_stay_ && monotonic_now_s() > deadline_s)) {
    wait(signals, kRelayLookSeconds);
  }
  reap();
}

JobOutcome JobLoop::run(SignalReader& signals) {
  tick();
  while (!status_) {
    wait(signals, seconds_to_look());
    if (status_) break;
    if (seconds_to_look() <= 0) tick();
    end_if_enough();
    reap();  // SIGCHLD may have come before it was blocked.
  }
  JobOutcome outcome;
  outcome.exit_code = exit_code_of(*status_);
  outcome.interrupted = interrupted_ || outcome.exit_code == 128 + SIGINT;
  session_.read_words();
  take_terminal(job_);
  orphans_stay_ = options_.keep_orphans;
  if (!options_.keep_orphans) end_leftovers_of_job();
  carry_rest(signals);
  outcome.ending = ending();
  outcome.stopped_by_limit = guard_.acted();
  outcome.had_enough = asked_to_end_s_.has_value();
  outcome.elapsed_s = session_.now();
  outcome.cost = session_.snapshot().cost;
  if (outcome.ending.kind == Ending::Kind::oom_killed) {
    session_.event(EventKind::oom, "the kernel OOM-killed the job");
  }
  outcome.run = session_.finish(outcome.ending);
  outcome.census = session_.census().cost();
  outcome.watch_cpu_s = session_.cpu_s();
  return outcome;
}

}  // namespace plateau
