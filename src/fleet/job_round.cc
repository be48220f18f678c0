// SPDX-License-Identifier: Apache-2.0
#include "fleet/job_round.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "base/text.h"
#include "base/units.h"
#include "fleet/labels.h"
#include "fleet/preset.h"
#include "recording/facts.h"

namespace plateau::fleet {
namespace {

constexpr double kMostSteps = 1e15;

// What was asked of one set of labels.
struct Told {
  Labels labels;
  std::vector<Sample> owned;
  std::vector<Sample> steps;
  std::vector<Sample> limits;
  std::vector<Sample> epochs;
};
using ByLabels = std::map<std::string, Told>;

std::optional<Error> ask_for(Database& database, const JobQuestion& question,
                             std::string_view metric, std::vector<Sample> Told::* place,
                             ByLabels& told, std::vector<std::string>& warnings) {
  const std::string job = matcher_of("plateau_job", std::vector{question.job});
  const std::vector<std::string_view> matchers = {job};
  const std::string query =
      fmt::format("{}[{:.0f}s]", selector_text(metric, matchers), question.window_s);
  Reply reply = database.query(query, question.end_s);
  if (!reply.ok()) {
    const std::string advice =
        reply.failure == Failure::too_much ? "; a shorter --window asks for less" : "";
    return Error{Error::Kind::not_found, reply.message + advice};
  }
  for (RawSeries& series : reply.answer.series) {
    Told& of = told[identity_of(series.labels, {})];
    of.labels = series.labels;
    of.*place = std::move(series.samples);
  }
  for (std::string& warning : reply.answer.warnings) warnings.push_back(std::move(warning));
  return std::nullopt;
}

std::optional<Fact> number_of(const Labels& labels, std::string_view name) {
  const std::optional<int64_t> number = parse_int(labels.of(name));
  if (!number || *number < 0 || *number > kMaxRank) return std::nullopt;
  return Fact{static_cast<double>(*number), fmt::format("label {}", name)};
}

// The latest of `samples` at or before a time; none if there is none.
double latest(const std::vector<Sample>& samples, double at_s) {
  const auto after = std::ranges::upper_bound(samples, at_s, {}, &Sample::at_s);
  return after == samples.begin() ? kMissing : (after - 1)->value;
}

Run run_of(const JobQuestion& question, Told& told) {
  Run run;
  run.source = fmt::format("rank {}", told.labels.of("rank"));
  run.format = "database";
  run.host = told.labels.of("node");
  run.epoch_time = true;
  run.context.job = Fact{0, "label plateau_job", question.job};
  run.context.rank = number_of(told.labels, "rank");
  run.context.world = number_of(told.labels, "world");
  run.context.attempt = number_of(told.labels, "attempt");
  run.processes.push_back({.id = 0, .name = std::string(told.labels.of("run"))});
  Series owned{0, Metric::pss_anon, "plateau_owned_memory_bytes", {}};
  // What came before the first step stands right before it, as in a recording.
  int64_t step = told.steps.empty() ? -1 : 0;
  for (const Sample& sample : told.owned) {
    const double at = latest(told.steps, sample.at_s);
    if (at >= 0 && at <= kMostSteps) step = std::max(step, static_cast<int64_t>(at));
    run.instants.push_back({.step = step, .time_s = sample.at_s});
    owned.mb.push_back(sample.value / kBytesPerMb);
  }
  run.series.push_back(std::move(owned));
  const double limit = told.limits.empty() ? 0 : told.limits.back().value / kBytesPerMb;
  if (limit > 0) run.context.limit_mb = Fact{limit, "plateau_memory_limit_bytes"};
  const double epoch = told.epochs.empty() ? 0 : told.epochs.back().value;
  if (epoch >= 1 && epoch <= kMostSteps) {
    run.context.epoch_steps = Fact{epoch, "plateau_epoch_steps"};
  }
  return run;
}

}  // namespace

Result<std::vector<Run>> runs_of_job(Database& database, const JobQuestion& question) {
  ByLabels told;
  std::vector<std::string> warnings;
  const std::vector<std::pair<std::string_view, std::vector<Sample> Told::*>> metrics = {
      {"plateau_owned_memory_bytes", &Told::owned},
      {"plateau_last_step", &Told::steps},
      {"plateau_memory_limit_bytes", &Told::limits},
      {"plateau_epoch_steps", &Told::epochs}};
  for (const auto& [metric, place] : metrics) {
    if (std::optional<Error> error = ask_for(database, question, metric, place, told, warnings)) {
      return *error;
    }
  }
  std::vector<Run> runs;
  for (auto& [labels, each] : told) {
    if (!each.owned.empty()) runs.push_back(run_of(question, each));
  }
  if (runs.empty()) {
    return Error{Error::Kind::no_samples,
                 fmt::format("the database has no plateau_owned_memory_bytes with "
                             "plateau_job=\"{}\" in this window; 'plateau run --push' sends it",
                             question.job)};
  }
  for (std::string& warning : warnings) runs.front().notes.push_back(std::move(warning));
  return runs;
}

}  // namespace plateau::fleet
