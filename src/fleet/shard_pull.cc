// SPDX-License-Identifier: Apache-2.0
#include "fleet/shard_pull.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "fleet/closeup.h"
#include "fleet/shard_load.h"

namespace plateau::fleet {
namespace {

// No limit is written as 0 or as a number near 2^63.
constexpr double kNoLimit = 1e15;
constexpr double kDayS = 86400;
// Samples may lie so far outside the window that was asked for: times are rounded.
constexpr double kSlackS = 1;

// What an exporter tells of each thing besides its memory.
struct Aside {
  std::map<std::string, double> limit_mb;
  std::map<std::string, double> started_s;
  std::map<std::string, std::vector<Sample>> starts;  // Of those that began anew in the window.
  std::map<std::pair<std::string, std::string>, std::string> owner;  // By namespace and pod.
};

class Pull {
 public:
  Pull(Database& database, const Question& question, const Shard& shard)
      : database_(database), question_(question), shard_(shard), matchers_(shard.text()) {}

  ShardOutcome run() {
    Reply reply = database_.query(window_of(question_.selector(matchers_)), question_.end_s);
    outcome_.failure = reply.failure;
    outcome_.message = reply.message;
    if (!reply.ok()) return std::move(outcome_);
    take_warnings(reply.answer);
    leave_out_strange(reply.answer);
    outcome_.samples = reply.answer.samples();
    std::map<std::string, Thing> things = sort_out(std::move(reply.answer.series));
    ask_limits();
    ask_starts();
    ask_owners();
    for (auto& [identity, thing] : things) judge_thing(identity, thing);
    judge_suspects();
    return std::move(outcome_);
  }

 private:
  struct Thing {
    std::vector<RawSeries> parts;
    std::vector<RawSeries> plus;
  };

  [[nodiscard]] std::string window_of(const std::string& selector) const {
    return fmt::format("{}[{:.0f}s]", selector, question_.window_s);
  }

  [[nodiscard]] std::string identity(const Labels& labels) const {
    return identity_of(labels, question_.preset.identity);
  }

  void take_warnings(const QueryAnswer& answer) {
    outcome_.warnings.insert(outcome_.warnings.end(), answer.warnings.begin(),
                             answer.warnings.end());
  }

  // What cannot be read and what was not asked for: a database that repeats a series after its end,
  // or tells of another time, must not make a curve longer than it was.
  void leave_out_strange(QueryAnswer& answer) {
    size_t strange = answer.bad_samples;
    for (RawSeries& each : answer.series) {
      strange += std::erase_if(each.samples, [this](const Sample& sample) {
        return sample.at_s < question_.begin_s() - kSlackS ||
               sample.at_s > question_.end_s + kSlackS;
      });
    }
    if (strange == 0) return;
    outcome_.troubles.emplace_back(
        "the database answered with samples that cannot be read or lie outside the window; they "
        "are left out");
  }

  // What helps and may be missing: its failure is told, not fatal.
  QueryAnswer helping(const std::string& expression) {
    Reply reply = database_.query(expression, question_.end_s);
    take_warnings(reply.answer);
    if (!reply.ok()) outcome_.troubles.push_back(reply.message);
    return std::move(reply.answer);
  }

  std::map<std::string, Thing> sort_out(std::vector<RawSeries> all) {
    std::map<std::string, Thing> things;
    for (RawSeries& each : all) {
      const bool plus = question_.with_plus && each.labels.of("__name__") == question_.preset.plus;
      Thing& thing = things[identity(each.labels)];
      (plus ? thing.plus : thing.parts).push_back(std::move(each));
    }
    return things;
  }

  void ask_limits() {
    for (const std::string_view expression : question_.preset.limits) {
      const QueryAnswer answer = helping(expression_for(expression, matchers_));
      for (const RawSeries& each : answer.series) {
        if (each.samples.empty()) continue;
        const double limit = each.samples.back().value;
        if (limit <= 0 || limit >= kNoLimit) continue;
        aside_.limit_mb.emplace(identity(each.labels), limit * question_.preset.unit_mb);
      }
      if (!aside_.limit_mb.empty()) return;
    }
  }

  void ask_starts() {
    const std::string_view metric = question_.preset.started;
    if (metric.empty()) return;
    const std::vector<std::string_view> matchers = {matchers_};
    const std::string selector = selector_text(metric, matchers);
    for (const RawSeries& each : helping(selector).series) {
      if (each.samples.empty()) continue;
      double& latest = aside_.started_s[identity(each.labels)];
      latest = std::max(latest, each.samples.back().value);
    }
    if (aside_.started_s.empty()) return;
    const QueryAnswer changed = helping(fmt::format("changes({}) > 0", window_of(selector)));
    if (changed.series.empty()) return;
    std::set<std::string> wanted;
    for (const RawSeries& each : changed.series) wanted.insert(identity(each.labels));
    for (RawSeries& each : helping(window_of(selector)).series) {
      const std::string of = identity(each.labels);
      if (wanted.contains(of)) aside_.starts[of] = std::move(each.samples);
    }
  }

  void ask_owners() {
    const std::string_view metric = question_.preset.owner;
    if (metric.empty()) return;
    const std::vector<std::string_view> matchers = {matchers_};
    const std::string selector = selector_text(metric, matchers);
    const QueryAnswer answer = helping(fmt::format("last_over_time({})", window_of(selector)));
    for (const RawSeries& each : answer.series) {
      const std::string_view kind = each.labels.of("owner_kind");
      const std::string_view name = each.labels.of("owner_name");
      if (name.empty() || name == "<none>") continue;
      // The deployment above a replica set is the set's name without its hash.
      const bool set = kind == "ReplicaSet" || kind == "Job";
      const std::string pod(each.labels.of("pod"));
      aside_.owner[{std::string(each.labels.of("namespace")), pod}] =
          set ? owner_of_pod(pod) : std::string(name);
    }
  }

  [[nodiscard]] SeriesName name_of(const Labels& labels) const {
    SeriesName name;
    name.cluster = labels.of("cluster");
    name.space = labels.of("namespace");
    if (name.space.empty()) name.space = labels.of("exported_namespace");
    name.container = labels.of("container");
    name.version = version_of(labels);
    if (!question_.group_by.empty()) {
      for (const std::string& label : question_.group_by) {
        name.workload += fmt::format("{}{}", name.workload.empty() ? "" : "/", labels.of(label));
      }
    } else if (const auto owner = aside_.owner.find({name.space, std::string(labels.of("pod"))});
               owner != aside_.owner.end()) {
      name.workload = owner->second;
    } else {
      name.workload = workload_of(labels, question_.preset.workload);
    }
    if (name.workload.empty()) name.workload = question_.metric;
    name.member = member_of(labels, name.workload);
    return name;
  }

  // Values in MB, and what is in use where the metric counts what is free.
  bool convert(std::vector<RawSeries>& parts, const std::optional<double>& limit_mb) const {
    const Preset& preset = question_.preset;
    if (preset.counts_free && !limit_mb) return false;
    for (RawSeries& part : parts) {
      for (Sample& sample : part.samples) {
        sample.value *= preset.unit_mb;
        if (preset.counts_free) sample.value = *limit_mb - sample.value;
        sample.value = std::max(sample.value, 0.0);
      }
    }
    return true;
  }

  static void add_plus(Thing& thing) {
    const auto same_series = [](const Labels& a, const Labels& b) {
      if (a.all().size() != b.all().size()) return false;
      for (const auto& [name, value] : a.all()) {
        if (name != "__name__" && b.of(name) != value) return false;
      }
      return true;
    };
    for (const RawSeries& more : thing.plus) {
      for (RawSeries& part : thing.parts) {
        if (same_series(part.labels, more.labels)) add_samples(more.samples, part.samples);
      }
    }
  }

  void judge_thing(const std::string& of, Thing& thing) {
    std::erase_if(thing.parts, [](const RawSeries& part) { return part.samples.empty(); });
    if (thing.parts.empty()) return;
    const auto limit = aside_.limit_mb.find(of);
    JudgedSeries judged;
    if (limit != aside_.limit_mb.end()) judged.limit_mb = limit->second;
    add_plus(thing);
    if (!convert(thing.parts, judged.limit_mb)) {
      ++outcome_.unreadable;
      return;
    }
    const Labels labels = thing.parts.back().labels;
    judged.name = name_of(labels);
    judged.kind = question_.preset.kind;
    judged.begin_s = question_.begin_s();
    const auto starts = aside_.starts.find(of);
    const auto started = aside_.started_s.find(of);
    std::vector<Sample> told;
    if (starts != aside_.starts.end()) {
      told = starts->second;
    } else if (started != aside_.started_s.end()) {
      told = {{question_.end_s, started->second}};
    }
    judged.series = join_series(std::move(thing.parts), told);
    judged.established = judged.series.lives() == 1 && started != aside_.started_s.end() &&
                         started->second <= question_.begin_s() - kDayS;
    outcome_.duplicates += judged.series.duplicates;
    if (judged.series.samples.size() < kFewestSamples) {
      ++outcome_.brief;
      return;
    }
    SeriesVerdict verdict = judge_at_level_load(judged);
    if (!is_suspect(verdict)) {
      if (question_.with_closeups) {
        KnownLoad level = level_load(judged);
        keep_closeup(std::move(judged), std::move(level), verdict);
      }
      outcome_.verdicts.push_back(std::move(verdict));
      return;
    }
    suspects_.push_back({.identity = of,
                         .shard_value = std::string(labels.of(shard_.label)),
                         .labels = labels,
                         .judged = std::move(judged)});
    if (started != aside_.started_s.end()) suspects_.back().started_s = started->second;
  }

  void judge_suspects() {
    if (suspects_.empty()) return;
    find_loads(database_, question_, shard_, suspects_, outcome_.troubles);
    for (Suspect& suspect : suspects_) {
      KnownLoad load = suspect.load.value_or(KnownLoad{});
      SeriesVerdict verdict = judge_under_load(suspect.judged, load);
      if (question_.with_closeups) {
        keep_closeup(std::move(suspect.judged), std::move(load), verdict);
      }
      outcome_.verdicts.push_back(std::move(verdict));
    }
  }

  Database& database_;
  const Question& question_;
  const Shard& shard_;
  std::string matchers_;
  Aside aside_;
  std::vector<Suspect> suspects_;
  ShardOutcome outcome_;
};

}  // namespace

std::string Question::selector(std::string_view shard) const {
  const std::vector<std::string_view> all = {preset.matchers, matchers, shard};
  if (with_plus) {
    const std::string names = fmt::format("__name__=~\"{}|{}\"", metric, preset.plus);
    return selector_text("",
                         std::vector<std::string_view>{names, preset.matchers, matchers, shard});
  }
  return selector_text(metric, all);
}

ShardOutcome pull_shard(Database& database, const Question& question, const Shard& shard) {
  return Pull(database, question, shard).run();
}

}  // namespace plateau::fleet
