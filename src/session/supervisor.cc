// SPDX-License-Identifier: Apache-2.0
// Puts a job and what watches it together; job_loop.h then watches.
#include "session/supervisor.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "probe/launch_identity.h"
#include "probe/loader.h"
#include "session/auto_module.h"
#include "session/claim.h"
#include "session/job_cgroup.h"
#include "session/job_loop.h"
#include "session/machine.h"

namespace plateau {
namespace {

// "ours", or "ours:theirs" under another watcher: every one of them is told.
std::string socket_variable(const std::string& path) {
  const char* outer = std::getenv("PLATEAU_SOCKET");
  const bool nested = outer != nullptr && outer[0] != '\0';
  return "PLATEAU_SOCKET=" + path + (nested ? ":" + std::string(outer) : "");
}

// Says that the watcher is one rank's own, so that every rank says its steps; a job of many ranks
// in one tree has one clock, and there the first one's do.
constexpr const char* kOwnRank = "PLATEAU_OWN_RANK";

std::vector<std::string> rank_environment() {
  const bool own = launch_identity().rank.has_value();
  if (!own && std::getenv(kOwnRank) == nullptr) return {};
  return {fmt::format("{}={}", kOwnRank, own ? "1" : "")};
}

// Whether a child has ended; leaves it for reap().
bool has_ended(pid_t pid) {
  siginfo_t end = {};
  waitid(P_PID, static_cast<id_t>(pid), &end, WEXITED | WNOHANG | WNOWAIT);
  return end.si_pid == pid;
}

// The child enters the group by itself and cannot say whether that worked. A job that is over by
// now needs no limit.
bool holds(const JobCgroup& group, pid_t pid) {
  if (has_ended(pid)) return true;
  const std::string where = text_of_file(fmt::format("/proc/{}/cgroup", pid));
  const std::string name = group.directory().substr(group.directory().rfind('/'));
  return where.find(name) != std::string::npos;
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

Supervised withdrawn(const Claim& claim, const StartError& failure) {
  claim.withdraw();
  return {std::nullopt, failure};
}

// A tracer that the job's loader cannot take would end the job before it began.
std::optional<Error> untraceable(const SupervisorOptions& options) {
  if (!options.heap) return std::nullopt;
  const char* path = std::getenv("PATH");
  const std::string why = refuses_preload(options.command.front(), path != nullptr ? path : "");
  if (why.empty()) return std::nullopt;
  return Error{
      Error::Kind::bad_input,
      fmt::format("the heap tracer is a library for glibc, and {}; leave --heap out", why)};
}

// The file was writable a moment ago; if it no longer is, the job goes on without it.
RecordingWriter recording_of(const SupervisorOptions& options) {
  const RecordingHead head = head_of(options, shell_words(options.command));
  Result<RecordingWriter> file = RecordingWriter::create(
      options.recording_path, head, RecordingWriter::kMaxRows, options.replace_recording);
  if (file) return std::move(file.value());
  options.say(file.error().message + "; the recording is kept in memory only");
  return std::move(RecordingWriter::create("", head).value());
}

}  // namespace

Supervised supervise(const SupervisorOptions& options) {
  fill_standard_descriptors();
  if (const std::optional<Error> error = untraceable(options)) return {std::nullopt, {*error}};
  const Result<Claim> claim = Claim::on(options.recording_path, options.replace_recording);
  if (!claim) return {std::nullopt, {claim.error()}};
  Result<StepSocket> socket = StepSocket::create();
  if (!socket) return withdrawn(claim.value(), {socket.error()});
  const std::optional<JobCgroup> group = backstop(options);
  Result<HeapWatch> heap = HeapWatch::start(options.heap, options.say);
  if (!heap) return withdrawn(claim.value(), {heap.error()});
  SignalReader signals({SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT});

  JobRequest request;
  request.command = options.command;
  request.environment = {socket_variable(socket.value().path())};
  request.environment.insert(request.environment.end(), options.environment.begin(),
                             options.environment.end());
  heap.value().expect_all();
  for (std::string& entry : heap.value().environment()) {
    request.environment.push_back(std::move(entry));
  }
  std::string trouble;
  for (std::string& entry : auto_environment(options.learns_steps, trouble)) {
    request.environment.push_back(std::move(entry));
  }
  if (!trouble.empty()) options.say(trouble);
  for (std::string& entry : rank_environment()) request.environment.push_back(std::move(entry));
  if (group) request.cgroup_procs = group->procs_file();
  const SessionStart start;
  Started started = start_job(request);
  if (!started.job) return withdrawn(claim.value(), started.failure);
  // From here on a job runs, and every way out waits for it.
  if (group && !holds(*group, started.job->pid)) {
    options.say("the job could not be put into its cgroup; sampling alone guards the limit");
  }
  ProbeOptions probe = options.probe;
  probe.exclude.push_back(getpid());
  for (const Relay& relay : started.job->relays) probe.exclude.push_back(relay.pid);
  for (const pid_t companion : options.companions) probe.exclude.push_back(companion);
  if (heap.value().pid() > 0) probe.exclude.push_back(heap.value().pid());
  Result<Sampler> found = Sampler::of_pid(started.job->pid, probe, true);
  if (!found && !has_ended(started.job->pid)) {
    kill(-started.job->pid, SIGKILL);
    waitpid(started.job->pid, nullptr, 0);
    take_terminal(*started.job);
    return withdrawn(claim.value(), {found.error()});
  }
  std::optional<Sampler> sampler;
  if (found) sampler = std::move(found.value());
  Session session(options, start, recording_of(options), std::move(sampler),
                  std::move(heap.value()));
  session.listen_at(std::move(socket.value()));
  return {JobLoop(options, std::move(session), std::move(*started.job)).run(signals), {}};
}

}  // namespace plateau
