// SPDX-License-Identifier: Apache-2.0
#include "session/session.h"

#include <algorithm>

#include "base/clock.h"
#include "base/version.h"
#include "probe/job_limits.h"

namespace plateau {
namespace {

// A verdict may take 0.3 % of one core, so the next one waits 300 times as long as the last took.
constexpr double kVerdictRest = 300;
constexpr double kFirstVerdictSeconds = 1;

}  // namespace

RecordingHead head_of(const SessionOptions& options, const std::string& command) {
  return {.command = command,
          .host = host_name(),
          .plateau_version = std::string(version()),
          .started_unix_s = unix_now_s(),
          .interval_s = options.interval_s,
          .keep_secrets = options.keep_secrets};
}

Session::Session(const SessionOptions& options, const SessionStart& start,
                 RecordingWriter recording, std::optional<Sampler> sampler, HeapWatch heap)
    : start_(start),
      proc_(options.probe.proc),
      hear_(options.hear),
      judged_by_(options.judged_by),
      looked_(options.looked),
      journal_(std::move(recording)),
      sampler_(std::move(sampler)),
      heap_(std::move(heap)),
      census_(options.census_share),
      pace_(options.interval_s),
      next_verdict_s_(kFirstVerdictSeconds) {
  journal_.facts_of_user(options.given);
}

double Session::now() const {
  return monotonic_now_s() - start_.at_s;
}

double Session::seconds_to_tick() const {
  const double at_s = now();
  if (step_ended_ && pace_.due_after_step(at_s)) return 0;
  return std::max(0.0, pace_.next_s(at_s) - at_s);
}

const Snapshot& Session::tick() {
  const double at_s = now();
  if (sampler_) snapshot_ = sampler_->sample(monotonic_now_s());
  pace_.sampled(at_s);
  step_ended_ = false;
  if (!sampler_) return snapshot_;
  read_job_limits(proc_, snapshot_);
  write_heard(at_s, false);
  journal_.cost(cpu_s(), snapshot_.cost.worst_share);
  journal_.sample(snapshot_, at_s);
  heap_.look(snapshot_, at_s);
  heap_.tick(at_s, journal_.step(), journal_.recording());
  const pid_t looked_with = census_.pid();
  census_.tick(snapshot_, at_s, journal_.step(), journal_.recording());
  if (census_.pid() > 0 && census_.pid() != looked_with) exclude(census_.pid());
  judge_if_due(at_s);
  if (looked_) looked_(*this);
  return snapshot_;
}

void Session::judge_if_due(double at_s) {
  if (!judged_by_ || at_s < next_verdict_s_) return;
  const double before_s = monotonic_now_s();
  verdict_ = judge(journal_.recording().run(false), *judged_by_);
  const double took_s = monotonic_now_s() - before_s;
  next_verdict_s_ = now() + std::max(std::clamp(at_s / 50, 1.0, 10.0), kVerdictRest * took_s);
}

void Session::read_words() {
  if (!socket_) return;
  for (const StepWords& words : socket_->receive()) {
    hear_(words);
    hub_.words(words);
    step_ended_ = journal_.words(words, now()) || step_ended_;
  }
  heap_.step(journal_.step());
}

void Session::output(std::span<const LineClock::News> news) {
  for (const LineClock::News& line : news) {
    if (!line.said.empty()) heard_.hear(line.said, now());
    if (!journal_.output(line, now())) continue;
    step_ended_ = true;
    heap_.step(journal_.step());
    StepWords words;
    words.kind = StepWords::Kind::step;
    words.step = journal_.step();
    words.epoch = line.epoch;
    hub_.words(words);
  }
  write_heard(now(), false);
}

void Session::write_heard(double at_s, bool last) {
  while (const std::optional<std::string> text = heard_.take(at_s, last)) {
    journal_.event(EventKind::oom, *text, at_s);
  }
}

void Session::event(EventKind kind, std::string_view text) {
  journal_.event(kind, text, now());
}

void Session::exclude(pid_t pid) {
  if (sampler_) sampler_->exclude(pid);
}

double Session::cpu_s() const {
  return own_cpu_s() - start_.cpu_s + std::max(keeper_cpu_s_, heap_.cpu_s()) + census_.cpu_s();
}

std::vector<std::string> Session::troubles() {
  std::vector<std::string> all = snapshot_.complaints;
  if (std::string trouble = journal_.recording().trouble(); !trouble.empty()) {
    all.push_back(std::move(trouble));
  }
  return all;
}

Run Session::finish(const Ending& ending) {
  census_.finish();
  keeper_cpu_s_ = heap_.cpu_s();
  heap_.finish(journal_.recording());
  write_heard(now(), true);
  journal_.finish(ending);
  return journal_.recording().run();
}

}  // namespace plateau
