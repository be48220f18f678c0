// SPDX-License-Identifier: Apache-2.0
#include "session/watcher.h"

#include <sys/socket.h>

#include <algorithm>

#include "session/heap_attach.h"

namespace plateau {

// Asks the watcher that started the job, if there is one, to pass its words on.
bool Watcher::find_hub(pid_t pid) {
  const std::vector<std::string> paths = sockets_of(pid, options_.probe.proc);
  if (paths.empty()) return false;
  Result<StepSocket> own = StepSocket::create();
  if (!own) return false;
  const Fd sender(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  for (const std::string& path : paths) {
    if (!send_step_words(sender.get(), path, "subscribe " + own.value().path())) continue;
    session_.listen_at(std::move(own.value()));
    step_source_ = "passed on by the watcher at " + path;
    return true;
  }
  return false;
}

bool Watcher::listen_for(pid_t pid) {
  for (const std::string& path : sockets_of(pid, options_.probe.proc)) {
    Result<StepSocket> own = StepSocket::listen_at(path);
    if (!own) continue;
    session_.listen_at(std::move(own.value()));
    step_source_ = "the training loop, at " + path;
    return true;
  }
  return false;
}

bool Watcher::find_file(pid_t pid) {
  std::vector<std::string> paths;
  for (const int fd : {1, 2}) {
    const std::optional<std::string> path = output_file_of(pid, fd, options_.probe.proc);
    if (path && std::find(paths.begin(), paths.end(), *path) == paths.end()) {
      paths.push_back(*path);
    }
  }
  for (const std::string& path : paths) {
    Result<FileFollower> file = FileFollower::open(path);
    if (file) files_.push_back(std::move(file.value()));
  }
  if (files_.empty()) return false;
  step_source_ = "the job's output in " + files_.front().path();
  return true;
}

void Watcher::find_steps(const Snapshot& first) {
  if (!files_.empty()) return;  // --log
  for (const bool mains : {true, false}) {
    for (const ProcessSample& process : first.processes) {
      if ((process.role == Role::main) != mains) continue;
      const pid_t pid = process.key.pid;
      if (find_hub(pid) || listen_for(pid) || find_file(pid)) return;
    }
  }
}

Result<Watcher> Watcher::attach(const WatchOptions& options) {
  Result<Sampler> sampler = Sampler::of_pid(options.pid, options.probe);
  if (!sampler) return sampler.error();
  const pid_t root = sampler.value().root().pid;
  const std::string command = command_of(root, options.probe.proc);
  Result<RecordingWriter> writer =
      RecordingWriter::create(options.recording_path, head_of(options, command));
  if (!writer) return writer.error();
  Result<HeapWatch> heap = HeapWatch::start(options.heap, options.say);
  if (!heap) return heap.error();
  Watcher watcher(options, Session(options, SessionStart(), std::move(writer.value()),
                                   std::move(sampler.value()), std::move(heap.value())));
  watcher.command_ = command;
  watcher.root_pid_ = root;
  if (!options.log.empty()) {
    Result<FileFollower> file = FileFollower::open(options.log);
    if (!file) return file.error();
    watcher.files_.push_back(std::move(file.value()));
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
  over_ = snapshot.processes.empty();
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
