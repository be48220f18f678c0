// SPDX-License-Identifier: Apache-2.0
#include "session/watcher.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "base/redact.h"
#include "session/auto_module.h"
#include "session/claim.h"
#include "session/heap_attach.h"

namespace plateau {
namespace {

constexpr double kModuleSeconds = 5;  // For Python's main thread to come to it.

}  // namespace

// Asks the watcher that started the job, if there is one, to pass its words on.
bool Watcher::find_hub(pid_t pid) {
  const std::vector<std::string> paths = sockets_of(pid, options_.probe.proc);
  const std::optional<uid_t> owner = owner_of(pid, options_.probe.proc);
  if (paths.empty() || !owner) return false;
  Result<StepSocket> own = StepSocket::create();
  if (!own) return false;
  const Fd sender(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  for (const std::string& path : paths) {
    if (!send_step_words(sender.get(), path, *owner, "subscribe " + own.value().path())) continue;
    session_.listen_at(std::move(own.value()));
    step_source_ = "passed on by the watcher at " + path;
    return true;
  }
  return false;
}

// Where it cannot be done, steps are looked for as without it.
bool Watcher::bring_module() {
  if (!options_.learns_steps) return false;
  Result<StepSocket> own = StepSocket::create();
  if (!own) return false;
  const Result<Intrusion> cost =
      bring_auto_module(options_.pid, own.value().path(), kModuleSeconds);
  if (!cost) {
    options_.say("steps cannot be read inside the process: " + cost.error().message);
    return false;
  }
  options_.say(fmt::format(
      "the module that learns steps was brought into process {}; one thread, stopped {}, stood "
      "still for {:.3g} ms; it stays there{}",
      options_.pid, cost.value().how, cost.value().stopped_s * 1e3,
      cost.value().left_behind.empty() ? "" : ": " + cost.value().left_behind));
  session_.listen_at(std::move(own.value()));
  session_.event(EventKind::mark, "plateau's module was brought in");
  step_source_ = "the framework inside the process";
  return true;
}

// Only for a job of our own: what another user's names is not ours to make or replace.
bool Watcher::listen_for(pid_t pid) {
  if (owner_of(pid, options_.probe.proc) != geteuid()) return false;
  for (const std::string& path : sockets_of(pid, options_.probe.proc)) {
    Result<StepSocket> own = StepSocket::listen_at(path);
    if (!own) continue;
    session_.listen_at(std::move(own.value()));
    step_source_ = "the training loop, at " + path;
    return true;
  }
  return false;
}

// What the first file told of the position stands. The other one may be shared with the launcher
// and end with what an earlier job said, so that of it only what comes is read.
bool Watcher::find_file(pid_t pid) {
  std::vector<OutputFile> found;
  for (const int fd : {1, 2}) {
    const std::optional<OutputFile> output = output_file_of(pid, fd, options_.probe.proc);
    if (!output || std::ranges::find(found, output->name, &OutputFile::name) != found.end()) {
      continue;
    }
    found.push_back(*output);
  }
  for (const OutputFile& output : found) {
    Result<FileFollower> file = FileFollower::open(output.link, output.name);
    if (!file) continue;
    if (session_.journal().step() >= 0) file.value().skip_to_end();
    session_.output(file.value().read());
    files_.push_back(std::move(file.value()));
  }
  if (files_.empty()) return false;
  step_source_ = "the job's output in " + files_.front().path();
  return true;
}

void Watcher::find_steps(const Snapshot& first) {
  if (!files_.empty()) return;  // --log
  if (options_.learns_steps && (find_hub(options_.pid) || bring_module())) return;
  for (const bool mains : {true, false}) {
    for (const ProcessSample& process : first.processes) {
      if ((process.role == Role::main) != mains) continue;
      const pid_t pid = process.key.pid;
      if (find_hub(pid) || listen_for(pid) || find_file(pid)) return;
    }
  }
}

Result<Watcher> Watcher::attach(const WatchOptions& options) {
  const Result<Claim> claim = Claim::on(options.recording_path, options.replace_recording);
  if (!claim) return claim.error();
  Result<Watcher> watcher = attach_claimed(options);
  if (!watcher) claim.value().withdraw();
  return watcher;
}

Result<Watcher> Watcher::attach_claimed(const WatchOptions& options) {
  Result<Sampler> sampler = Sampler::of_pid(options.pid, options.probe);
  if (!sampler) return sampler.error();
  const pid_t root = sampler.value().root().pid;
  const std::string command = command_of(root, options.probe.proc);
  std::optional<FileFollower> log;
  if (!options.log.empty()) {
    Result<FileFollower> file = FileFollower::open(options.log);
    if (!file) return file.error();
    log = std::move(file.value());
  }
  Result<HeapWatch> heap = HeapWatch::start(options.heap, options.say);
  if (!heap) return heap.error();
  Result<RecordingWriter> writer =
      RecordingWriter::create(options.recording_path, head_of(options, command),
                              RecordingWriter::kMaxRows, options.replace_recording);
  if (!writer) return writer.error();
  Watcher watcher(options, Session(options, SessionStart(), std::move(writer.value()),
                                   std::move(sampler.value()), std::move(heap.value())));
  watcher.command_ = options.keep_secrets ? command : redacted(command);
  watcher.root_pid_ = root;
  if (log) {
    watcher.files_.push_back(std::move(*log));
    watcher.step_source_ = options.log;
  }
  if (options.heap) {
    const auto error =
        attach_heap(options.pid, *options.heap, watcher.session_.heap(), options.say);
    if (error) return *error;
    watcher.session_.event(EventKind::mark, "heap tracer attached");
  }
  return watcher;
}

void Watcher::listen() {
  session_.read_words();
  for (FileFollower& file : files_) session_.output(file.read());
}

const Snapshot& Watcher::tick() {
  listen();
  const Snapshot& snapshot = session_.tick();
  over_ = snapshot.processes.empty() && snapshot.whole;
  if (snapshot.cost.ticks == 1) find_steps(snapshot);
  return snapshot;
}

Run Watcher::finish() {
  Ending ending;
  ending.kind = over_ ? Ending::Kind::vanished : Ending::Kind::left;
  if (options_.heap) detach_heap(options_.pid, options_.say);
  return session_.finish(ending);
}

}  // namespace plateau
