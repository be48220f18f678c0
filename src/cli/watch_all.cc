// SPDX-License-Identifier: Apache-2.0
#include "cli/watch_all.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <deque>
#include <memory>
#include <utility>

#include "answer/answer.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/printable.h"
#include "base/text.h"
#include "cli/pusher.h"
#include "command/exit_code.h"
#include "push/live_facts.h"
#include "report/json.h"
#include "report/terminal.h"
#include "session/signals.h"

namespace plateau {
namespace {

// A job that has ended stays in the textfile this long, so that somebody scrapes its last verdict.
constexpr double kEndedShownS = 300;
constexpr int kLongestPollMs = 1000;
constexpr auto kMayGoAlong = std::to_array<std::string_view>(
    {"all", "for", "interval", "lines", "json", "quiet", "color", "width", "no-plot", "textfile",
     "push", "no-redact", "strict"});

// When the machine was started, since 1970.
double boot_unix_s() {
  const std::string stat = text_of_file("/proc/stat");
  const size_t at = stat.find("\nbtime ");
  if (at == std::string::npos) return 0;
  std::string_view rest = std::string_view(stat).substr(at + 7);
  return parse_double(take_part(rest, '\n')).value_or(0);
}

struct WatchedJob {
  ProcessKey root;
  std::string name;
  std::unique_ptr<Watcher> watcher;  // A session moves nowhere while it is used.
};

struct EndedJob {
  double at_s = 0;
  RunFacts facts;
};

class NodeWatch {
 public:
  NodeWatch(const WatchAllRequest& request, Output& out, std::optional<Pusher> pusher)
      : request_(request), out_(out), pusher_(std::move(pusher)), search_(request.watch.probe) {
    if (pusher_) search_.exclude(pusher_->pid());
  }

  void run() {
    SignalReader signals({SIGINT, SIGTERM, SIGHUP});
    const double begun_s = monotonic_now_s();
    while (!out_.closed()) {
      const double now_s = monotonic_now_s();
      if (request_.look.for_s && now_s - begun_s >= *request_.look.for_s) break;
      if (now_s >= next_search_s_) search(now_s);
      for (WatchedJob& job : jobs_) tick(job);
      std::erase_if(jobs_, [](const WatchedJob& job) { return job.watcher == nullptr; });
      tell();
      if (!wait(signals)) break;
    }
    while (!jobs_.empty()) {
      end(jobs_.back());
      jobs_.pop_back();
    }
    if (!pusher_) return;
    pusher_->tell(facts());
    pusher_->finish();
  }

 private:
  void search(double now_s) {
    next_search_s_ = now_s + kSearchEveryS;
    for (const TrainingJob& found : search_.look(now_s)) {
      if (std::ranges::any_of(jobs_, [&](const WatchedJob& job) { return holds(job, found); })) {
        continue;
      }
      if (jobs_.size() >= kMostJobs) {
        if (!std::exchange(told_many_, true)) {
          out_.complain("watch",
                        fmt::format("more than {} jobs; the others are left alone", kMostJobs));
        }
        return;
      }
      begin(found);
    }
  }

  static bool holds(const WatchedJob& job, const TrainingJob& found) {
    if (job.root == found.root) return true;
    return std::ranges::any_of(
        job.watcher->session().snapshot().processes,
        [&found](const ProcessSample& process) { return process.key.pid == found.pid; });
  }

  void begin(const TrainingJob& found) {
    WatchOptions options = request_.watch;
    options.pid = found.pid;
    options.say = [this, pid = found.pid](const std::string& text) {
      out_.complain("watch", fmt::format("pid {}: {}", pid, text));
    };
    Result<Watcher> watcher = Watcher::attach(options);
    if (!watcher) return;  // It has ended since.
    const double started_s = boot_unix_s() + static_cast<double>(found.root.start_ticks) /
                                                 static_cast<double>(sysconf(_SC_CLK_TCK));
    std::vector<std::string> words;
    std::string_view rest = found.label;
    while (!rest.empty()) words.emplace_back(take_part(rest, ' '));
    WatchedJob job{.root = found.root,
                   .name = fmt::format("{}-{}", run_label("", words, started_s), found.root.pid),
                   .watcher = std::make_unique<Watcher>(std::move(watcher.value()))};
    line(fmt::format("found {}: {} ({})", found.root.pid, printable(found.label), job.name));
    jobs_.push_back(std::move(job));
  }

  void tick(WatchedJob& job) {
    Session& session = job.watcher->session();
    if (session.seconds_to_tick() > 0) return;
    job.watcher->tick();
    for (const std::string& trouble : session.troubles()) {
      out_.complain("watch", fmt::format("pid {}: {}", job.root.pid, trouble));
    }
    if (job.watcher->over()) end(job);
  }

  // Nothing of it is sampled any more.
  void end(WatchedJob& job) {
    AnswerOptions options{.policy = *request_.watch.judged_by, .name = job.name};
    const Context known = job.watcher->session().journal().stated();
    const Run run = job.watcher->finish();
    job.watcher.reset();
    if (run.instants.empty()) return;
    Verdict verdict = answer_run(run, options).verdict;
    verdict.file = job.name;
    if (request_.look.json) {
      out_.print(verdict_json(verdict) + "\n");
    } else if (!request_.look.quiet) {
      out_.print(render_line(verdict, request_.look.view));
    }
    out_.flush();
    if (!pusher_) return;
    RunFacts facts = push::live_facts(verdict, nullptr, unix_now_s());
    facts.name = job.name;
    facts.labels = pusher_->labelled(identity_labels(known));
    ended_.push_back({monotonic_now_s(), facts});
    news_ = true;
  }

  std::vector<RunFacts> facts() {
    const double now_s = monotonic_now_s();
    std::erase_if(ended_, [&](const EndedJob& e) { return e.at_s < now_s - kEndedShownS; });
    std::vector<RunFacts> all;
    for (const WatchedJob& job : jobs_) {
      const Session& session = job.watcher->session();
      if (session.verdict() == nullptr || !session.snapshot().whole) continue;
      RunFacts facts = push::live_facts(*session.verdict(), &session.snapshot(), unix_now_s());
      facts.name = job.name;
      facts.labels = pusher_->labelled(identity_labels(session.journal().stated()));
      all.push_back(std::move(facts));
    }
    for (const EndedJob& ended : ended_) all.push_back(ended.facts);
    return all;
  }

  void tell() {
    if (!pusher_) return;
    if (pusher_->due() || std::exchange(news_, false)) {
      pusher_->tell(facts());
    } else {
      pusher_->tend();
    }
  }

  // False if somebody asks to stop.
  bool wait(SignalReader& signals) {
    double wait_s = std::max(0.0, next_search_s_ - monotonic_now_s());
    std::vector<pollfd> polled = {{signals.fd(), POLLIN, 0}};
    for (const WatchedJob& job : jobs_) {
      wait_s = std::min(wait_s, job.watcher->session().seconds_to_tick());
      polled.push_back({job.watcher->session().socket_fd(), POLLIN, 0});
    }
    const int wait_ms = std::min(kLongestPollMs, static_cast<int>(std::ceil(wait_s * 1000)));
    if (poll(polled.data(), polled.size(), wait_ms) <= 0) return true;
    for (size_t i = 0; i < jobs_.size(); ++i) {
      if (polled[i + 1].revents != 0) jobs_[i].watcher->listen();
    }
    return polled.front().revents == 0 || signals.read_all().empty();
  }

  void line(const std::string& text) {
    if (request_.look.json || request_.look.quiet) return;
    out_.print(text + "\n");
    out_.flush();
  }

  const WatchAllRequest& request_;
  Output& out_;
  std::optional<Pusher> pusher_;
  TrainingSearch search_;
  std::vector<WatchedJob> jobs_;
  std::deque<EndedJob> ended_;
  double next_search_s_ = 0;
  bool told_many_ = false;
  bool news_ = false;
};

}  // namespace

std::optional<Error> not_with_all(const Arguments& arguments) {
  if (!arguments.positionals.empty()) return usage_error("--all and PID exclude each other");
  for (const auto& [name, value] : arguments.options) {
    const bool may =
        name.starts_with("push-") || std::ranges::find(kMayGoAlong, name) != kMayGoAlong.end();
    if (!may) return usage_error(fmt::format("--all and --{} exclude each other", name));
  }
  return std::nullopt;
}

int watch_all(const Invocation& invocation, const WatchAllRequest& request) {
  Output& out = invocation.out;
  std::optional<Pusher> pusher;
  if (request.push.any()) {
    const auto say = [&out](const std::string& text) { out.complain("watch", text); };
    Result<Pusher> started = Pusher::start(request.push, say);
    if (!started) return trouble(invocation, started.error().message);
    pusher.emplace(std::move(started.value()));
  }
  NodeWatch(request, out, std::move(pusher)).run();
  return kExitFine;
}

}  // namespace plateau
