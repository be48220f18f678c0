// SPDX-License-Identifier: Apache-2.0
#include "session/watcher.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <ctime>

#include "session/heap_attach.h"
#include "session/machine.h"
#include "session/step_hub.h"
#include "session/step_sources.h"

namespace plateau {
namespace {

// A verdict may take 0.3 % of one core, so the next one waits 300 times as long as the last took.
constexpr double kVerdictRest = 300;
constexpr double kFirstVerdictSeconds = 1;

}  // namespace

struct Watcher::State {
  State(const WatchOptions& wanted, Sampler of, Journal into, HeapWatch watched)
      : options(wanted),
        sampler(std::move(of)),
        journal(std::move(into)),
        heap(std::move(watched)),
        pace(wanted.interval_s),
        start_s(monotonic_s()),
        cpu_before_s(own_cpu_s()) {}

  [[nodiscard]] double now() const { return monotonic_s() - start_s; }
  void find_steps(const Snapshot& first);
  bool find_hub(pid_t pid);
  bool listen_for(pid_t pid);
  bool find_file(pid_t pid);
  void judge_if_due(double at_s);

  WatchOptions options;
  std::string command;
  Sampler sampler;
  Journal journal;
  HeapWatch heap;
  Pace pace;
  double start_s;
  double cpu_before_s;
  std::optional<StepSocket> socket;
  std::vector<FileFollower> files;
  std::string step_source = "none found: growth is judged over time";
  Snapshot snapshot;
  std::optional<Verdict> verdict;
  double next_verdict_s = kFirstVerdictSeconds;
  bool over = false;
  bool step_ended = false;
};

// Asks the watcher that started the job, if there is one, to pass its words on.
bool Watcher::State::find_hub(pid_t pid) {
  const std::vector<std::string> paths = sockets_of(pid, options.probe.proc);
  if (paths.empty()) return false;
  Result<StepSocket> own = StepSocket::create();
  if (!own) return false;
  const Fd sender(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  for (const std::string& path : paths) {
    if (!send_step_words(sender.get(), path, "subscribe " + own.value().path())) continue;
    socket = std::move(own.value());
    step_source = "passed on by the watcher at " + path;
    return true;
  }
  return false;
}

bool Watcher::State::listen_for(pid_t pid) {
  for (const std::string& path : sockets_of(pid, options.probe.proc)) {
    Result<StepSocket> own = StepSocket::listen_at(path);
    if (!own) continue;
    socket = std::move(own.value());
    step_source = "the training loop, at " + path;
    return true;
  }
  return false;
}

bool Watcher::State::find_file(pid_t pid) {
  std::vector<std::string> paths;
  for (const int fd : {1, 2}) {
    const std::optional<std::string> path = output_file_of(pid, fd, options.probe.proc);
    if (path && std::find(paths.begin(), paths.end(), *path) == paths.end()) {
      paths.push_back(*path);
    }
  }
  for (const std::string& path : paths) {
    Result<FileFollower> file = FileFollower::open(path);
    if (file) files.push_back(std::move(file.value()));
  }
  if (files.empty()) return false;
  step_source = "the job's output in " + files.front().path();
  return true;
}

void Watcher::State::find_steps(const Snapshot& first) {
  if (!files.empty()) return;  // --log
  for (const bool mains : {true, false}) {
    for (const ProcessSample& process : first.processes) {
      if ((process.role == Role::main) != mains) continue;
      const pid_t pid = process.key.pid;
      if (find_hub(pid) || listen_for(pid) || find_file(pid)) return;
    }
  }
}

void Watcher::State::judge_if_due(double at_s) {
  if (at_s < next_verdict_s) return;
  const double before_s = monotonic_s();
  verdict = judge(journal.recording().run_without_heaps(), options.policy);
  const double took_s = monotonic_s() - before_s;
  next_verdict_s = now() + std::max(std::clamp(at_s / 50, 1.0, 10.0), kVerdictRest * took_s);
}

Watcher::Watcher(std::unique_ptr<State> state) : state_(std::move(state)) {}
Watcher::Watcher(Watcher&&) noexcept = default;
Watcher& Watcher::operator=(Watcher&&) noexcept = default;
Watcher::~Watcher() = default;

Result<Watcher> Watcher::attach(const WatchOptions& options) {
  Result<Sampler> sampler = Sampler::of_pid(options.pid, options.probe);
  if (!sampler) return sampler.error();
  RecordingHead head;
  head.command = command_of(sampler.value().root().pid, options.probe.proc);
  head.host = host_name();
  head.plateau_version = PLATEAU_VERSION;
  head.started_unix_s = static_cast<double>(time(nullptr));
  head.interval_s = options.interval_s;
  Result<RecordingWriter> writer = RecordingWriter::create(options.recording_path, head);
  if (!writer) return writer.error();
  Result<HeapWatch> heap = HeapWatch::start(options.heap, options.say);
  if (!heap) return heap.error();
  auto state = std::make_unique<State>(options, std::move(sampler.value()),
                                       Journal(std::move(writer.value())), std::move(heap.value()));
  state->command = head.command;
  if (!options.log.empty()) {
    Result<FileFollower> file = FileFollower::open(options.log);
    if (!file) return file.error();
    state->files.push_back(std::move(file.value()));
    state->step_source = options.log;
  }
  state->journal.facts(options.given);
  if (options.heap) {
    const auto error = attach_heap(options.pid, *options.heap, state->heap, options.say);
    if (error) return *error;
    state->journal.event(EventKind::mark, "heap tracer attached", state->now());
  }
  return Watcher(std::move(state));
}

std::vector<int> Watcher::fds() const {
  if (!state_->socket) return {};
  return {state_->socket->fd()};
}

void Watcher::listen() {
  State& state = *state_;
  if (state.socket) {
    for (const StepWords& words : state.socket->receive()) {
      state.step_ended = state.journal.words(words, state.now()) || state.step_ended;
    }
  }
  for (FileFollower& file : state.files) {
    for (const LineClock::News& news : file.read()) {
      state.step_ended = state.journal.output(news, state.now()) || state.step_ended;
    }
  }
  state.heap.step(state.journal.step());
}

double Watcher::elapsed_s() const {
  return state_->now();
}

double Watcher::seconds_to_tick() const {
  const double at_s = state_->now();
  if (state_->step_ended && state_->pace.due_after_step(at_s)) return 0;
  return std::max(0.0, state_->pace.next_s(at_s) - at_s);
}

const Snapshot& Watcher::tick() {
  State& state = *state_;
  listen();
  const double at_s = state.now();
  const bool first = state.snapshot.cost.ticks == 0;
  state.snapshot = state.sampler.sample(monotonic_s());
  state.pace.sampled(at_s);
  state.step_ended = false;
  state.over = state.snapshot.processes.empty();
  if (first) state.find_steps(state.snapshot);
  state.journal.cost(own_cpu_s() - state.cpu_before_s + state.heap.cpu_s(),
                     state.snapshot.cost.worst_share);
  state.journal.sample(state.snapshot, at_s);
  state.heap.tick(at_s, state.journal.step(), state.journal.recording());
  state.judge_if_due(at_s);
  return state.snapshot;
}

bool Watcher::over() const {
  return state_->over;
}
const Snapshot& Watcher::snapshot() const {
  return state_->snapshot;
}
const Verdict* Watcher::verdict() const {
  return state_->verdict ? &*state_->verdict : nullptr;
}
const Journal& Watcher::journal() const {
  return state_->journal;
}
pid_t Watcher::root_pid() const {
  return state_->sampler.root().pid;
}
const std::string& Watcher::command() const {
  return state_->command;
}
const std::string& Watcher::step_source() const {
  return state_->step_source;
}
double Watcher::interval_s() const {
  return state_->pace.interval_s(state_->now());
}
double Watcher::cpu_share() const {
  return (own_cpu_s() - state_->cpu_before_s) / std::max(1e-3, state_->now());
}
std::string Watcher::trouble() {
  return state_->journal.recording().trouble();
}

void Watcher::mark(const std::string& text) {
  state_->journal.event(EventKind::mark, text, state_->now());
}

Run Watcher::finish() {
  State& state = *state_;
  Ending ending;
  ending.kind = state.over ? Ending::Kind::vanished : Ending::Kind::left;
  if (state.options.heap) {
    detach_heap(state.options.pid, state.options.say);
    state.heap.finish(state.journal.recording());
  }
  state.journal.recording().finish(ending);
  return state.journal.recording().run();
}

}  // namespace plateau
