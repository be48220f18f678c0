// SPDX-License-Identifier: Apache-2.0
#include "cli/pusher.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/clock.h"
#include "base/printable.h"
#include "cli/run_request.h"
#include "push/live_facts.h"
#include "push/otlp.h"
#include "serve/metrics.h"
#include "session/machine.h"

namespace plateau {
namespace {

constexpr int kNice = 5;  // The job comes first.
constexpr int kPollMs = 20;
constexpr double kHandOverS = 2;
constexpr double kEndS = 0.5;
constexpr double kPatienceS = 2;  // Beyond the farewell of the courier itself.
constexpr double kBeginAgainS = 60;

void serve_letters(const push::CourierOptions& options, int socket,
                   const HelperProcess::Report& report) {
  Result<push::Courier> courier = push::Courier::prepare(options);
  if (!courier) {
    report(courier.error());
    return;
  }
  report(std::string());
  if (nice(kNice) == -1) {
    // Then it is not nice; nothing depends on it.
  }
  courier.value().run(Fd(socket));
}

std::string node_of(const push::LabelList& labels) {
  const auto node =
      std::ranges::find(labels, "node", [](const auto& label) { return label.first; });
  return node == labels.end() ? "" : node->second;
}

// What a scraper would add: a database and its rules count on both.
push::LabelList scraped_labels(const push::LabelList& labels) {
  const std::string node = node_of(labels);
  return {{"job", "plateau"}, {"instance", node.empty() ? host_name() : node}};
}

// The job's place among others, as its launcher told it.
push::LabelList told_by_launcher(const Context& known) {
  push::LabelList labels;
  const auto number = [&](const char* name, const std::optional<Fact>& fact) {
    if (fact) labels.emplace_back(name, fmt::format("{:.0f}", fact->value));
  };
  if (known.job) labels.emplace_back("plateau_job", known.job->text);
  number("rank", known.rank);
  number("world", known.world);
  number("attempt", known.attempt);
  if (known.node) labels.emplace_back("node", known.node->text);
  return labels;
}

}  // namespace

push::LabelList identity_labels(const Context& known) {
  push::LabelList labels = told_by_launcher(known);
  if (node_of(labels).empty()) labels.emplace_back("node", host_name());
  return labels;
}

std::string run_label(const std::string& recording, const std::vector<std::string>& command,
                      double started_unix_s) {
  if (!recording.empty()) return std::filesystem::path(recording).filename().string();
  const std::vector<std::string> words =
      command.empty() ? std::vector<std::string>{"job"} : command;
  const std::string name = default_recording_name(words, static_cast<int64_t>(started_unix_s));
  return std::filesystem::path(name).stem().string();
}

Result<Pusher> Pusher::start(PushRequest request, Say say) {
  Pusher pusher(std::move(request), std::move(say));
  if (std::optional<Error> error = pusher.begin(true)) return *error;
  return pusher;
}

std::optional<Error> Pusher::begin(bool wait_until_ready) {
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return usage_error(fmt::format("--push: cannot open a socket: {}", strerror(errno)));
  }
  Fd ours(ends[0]);
  Fd theirs(ends[1]);
  helper_.reset();
  Result<HelperProcess> helper = HelperProcess::start(
      "plateau-push",
      [&](int /*stop_fd*/, const HelperProcess::Report& report) {
        if (!wait_until_ready) report(std::string());
        serve_letters(request_.courier, theirs.release(), report);
      },
      theirs.get());
  if (!helper) return helper.error();
  helper_.emplace(std::move(helper.value()));
  if (box_) {
    box_->reconnect(std::move(ours));
  } else {
    box_.emplace(std::move(ours));
  }
  return std::nullopt;
}

push::LabelList Pusher::labelled(const push::LabelList& more) const {
  push::LabelList labels = request_.labels;
  for (const auto& label : more) {
    const auto same = [&label](const auto& other) { return other.first == label.first; };
    if (!label.second.empty() && std::ranges::none_of(labels, same)) labels.push_back(label);
  }
  return labels;
}

bool Pusher::due() const {
  return monotonic_now_s() >= next_s_;
}

void Pusher::tell(const std::vector<RunFacts>& runs) {
  next_s_ = monotonic_now_s() + request_.every_s;
  // Receivers want each sample later than the one before, whatever is done to the clock.
  last_ms_ = std::max(last_ms_ + 1, static_cast<int64_t>(unix_now_s() * 1000));
  std::vector<MetricsText> texts;
  for (const RunFacts& run : runs) {
    if (!request_.courier.textfile.empty()) {
      texts.push_back(run_metrics(run, Dialect::prometheus_text));
    }
    if (!request_.courier.url.empty()) {
      MetricsList list;
      tell_run(list, run);
      push::WriteRequest written =
          request_.courier.format == push::Format::otlp
              ? push::otlp_request(list.samples, scraped_labels(run.labels), last_ms_)
              : push::write_request(list.samples, scraped_labels(run.labels), last_ms_);
      if (written.series == 0) continue;
      box_->post({.kind = push::Letter::Kind::figures,
                  .samples = written.series,
                  .at_ms = last_ms_,
                  .content = std::move(written.body)});
    }
  }
  if (!request_.courier.textfile.empty()) {
    std::vector<const MetricsText*> all;
    all.reserve(texts.size());
    for (const MetricsText& text : texts) all.push_back(&text);
    box_->post({.kind = push::Letter::Kind::text, .content = joined(all)});
  }
  tend();
}

void Pusher::tend() {
  const bool alive = box_->flush();
  for (const std::string& remark : box_->remarks()) say_(printable(remark));
  if (const uint64_t dropped = box_->dropped_samples(); dropped > 0 && told_dropped_ == 0) {
    told_dropped_ = dropped;
    say_("--push: the disk of the spool is too slow; samples are dropped");
  }
  if (alive && !box_->answered()) return;
  const double now_s = monotonic_now_s();
  if (next_begin_s_ == 0) {
    next_begin_s_ = now_s + kBeginAgainS;
    say_("--push: the process that sends has ended; another is started in a minute");
  }
  if (now_s < next_begin_s_) return;
  next_begin_s_ = now_s + kBeginAgainS;
  begin(false);
}

void Pusher::finish() {
  if (!box_->flush()) begin(false);  // What waits is not left to a minute that does not come.
  double until_s = monotonic_now_s() + kHandOverS;
  while (!box_->empty() && box_->flush() && monotonic_now_s() < until_s) poll(nullptr, 0, kPollMs);
  box_->close_slot();
  until_s = monotonic_now_s() + request_.courier.farewell_s + kPatienceS;
  while (!box_->answered() && monotonic_now_s() < until_s) {
    pollfd polled = {box_->fd(), POLLIN, 0};
    poll(&polled, 1, 10 * kPollMs);
    for (const std::string& remark : box_->remarks()) say_(printable(remark));
  }
  if (helper_) helper_->stop(kEndS);
}

void LivePusher::follow(SessionOptions& options, const Policy& policy) {
  if (!options.judged_by) options.judged_by = policy;
  options.looked = [this, before = options.looked](Session& session) {
    if (before) before(session);
    look(session);
  };
}

void LivePusher::run_is(const std::string& name, const std::string& path) {
  name_ = name;
  path_ = path;
  labels_ = identity_labels({});
}

void LivePusher::tell(RunFacts facts) {
  facts.name = name_;
  facts.path = path_;
  facts.labels = pusher_.labelled(labels_);
  pusher_.tell({facts});
}

void LivePusher::look(Session& session) {
  if (pusher_.pid() != excluded_) {
    excluded_ = pusher_.pid();
    session.exclude(excluded_);
  }
  if (session.verdict() != nullptr && session.snapshot().whole && pusher_.due()) {
    labels_ = identity_labels(session.journal().stated());
    tell(push::live_facts(*session.verdict(), &session.snapshot(), unix_now_s()));
  } else {
    pusher_.tend();
  }
}

void LivePusher::finish(const Verdict& verdict) {
  tell(push::live_facts(verdict, nullptr, unix_now_s()));
  pusher_.finish();
}

}  // namespace plateau
