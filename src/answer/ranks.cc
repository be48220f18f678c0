// SPDX-License-Identifier: Apache-2.0
#include "answer/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "answer/series.h"
#include "recording/facts.h"
#include "verdict/event_growth.h"

namespace plateau {
namespace {

// A rank that ends within this share of the run before its end has ended with the others.
constexpr double kEndsTogether = 0.05;
constexpr size_t kMostMissing = 64;

std::string node_name(const Run& run, const Process& process) {
  if (process.node >= 0 && process.node < static_cast<int64_t>(run.nodes.size())) {
    return run.nodes[static_cast<size_t>(process.node)].name;
  }
  return run.context.node ? run.context.node->text : run.host;
}

// Parts by rising rank; the number of each in `ranks`.
std::vector<RankPart> rank_parts(const std::vector<int64_t>& of, std::vector<int64_t>& ranks) {
  std::map<int64_t, std::vector<size_t>> members;
  for (size_t i = 0; i < of.size(); ++i) {
    if (of[i] >= 0) members[of[i]].push_back(i);
  }
  std::vector<RankPart> parts;
  for (auto& [rank, processes] : members) {
    ranks.push_back(rank);
    parts.push_back({fmt::format("rank {}", rank), std::move(processes)});
  }
  return parts;
}

// The last instant at which one of the processes was there; none if they never were.
std::optional<size_t> last_seen(const Run& run, const std::vector<size_t>& processes) {
  std::optional<size_t> last;
  for (const Series& series : run.series) {
    if (std::ranges::find(processes, series.process) == processes.end()) continue;
    for (size_t i = series.mb.size(); i > last.value_or(0); --i) {
      if (!std::isfinite(series.mb[i - 1])) continue;
      last = i - 1;
      break;
    }
  }
  return last;
}

class RankJudge {
 public:
  RankJudge(const Run& run, const Policy& policy, Judged& judged)
      : run_(run),
        policy_(policy),
        judged_(judged),
        rank_of_(ranks_of(run)),
        parts_(rank_parts(rank_of_, ranks_)) {}

  [[nodiscard]] bool is_job() const { return parts_.size() >= 2 && parts_.size() <= kMostRanks; }

  void judge() {
    each_.reserve(parts_.size());
    for (const RankPart& part : parts_)
      each_.push_back(judge_ahead(part_of(run_, part.processes), policy_));
    for (size_t i = 0; i < parts_.size(); ++i) describe_rank(i);
    find_saver();
    const Tally tally = tally_of(each_, saver_);
    if (saver_) set_apart();
    take_hidden_leak(tally, parts_, each_, judged_);
    reach_of(tally);
    describe_job();
    judge_nodes();
    tell(tally);
    judged_.verdict.job = std::move(job_);
  }

 private:
  void describe_rank(size_t at) {
    const Verdict& verdict = each_[at].verdict;
    RankVerdict rank{.rank = ranks_[at],
                     // Where its latest life is.
                     .node = node_name(run_, run_.processes[parts_[at].processes.back()]),
                     .word = verdict.word,
                     .confidence = verdict.confidence,
                     .first_mb = verdict.first_mb,
                     .last_mb = verdict.last_mb,
                     .rate_mb_per_step = verdict.current_rate_mb_per_step,
                     .lives = std::max<size_t>(1, verdict.lives.size()),
                     .ended_step = {}};
    const std::optional<size_t> last = last_seen(run_, parts_[at].processes);
    const double first = judged_.verdict.first_step;
    const double end = judged_.verdict.last_step;
    if (last && judged_.verdict.clock != Clock::samples) {
      const double at_clock = judged_.verdict.clock == Clock::steps
                                  ? static_cast<double>(run_.instants[*last].step)
                                  : run_.instants[*last].time_s - run_.instants.front().time_s;
      if (at_clock < end - kEndsTogether * (end - first)) rank.ended_step = at_clock;
    }
    job_.ranks.push_back(std::move(rank));
  }

  // Rank 0, if it alone does not level off and what it gains comes with checkpoints.
  void find_saver() {
    if (ranks_.front() != 0 || each_.front().verdict.word == Word::plateau) return;
    for (size_t i = 1; i < each_.size(); ++i) {
      if (each_[i].verdict.word == Word::leak) return;
    }
    const Run alone = part_of(run_, parts_.front().processes);
    for (const ClockGrowth& growth : growth_by_clock(alone, each_.front().verdict)) {
      if (growth.clock != GrowthClock::checkpoint || !growth.follows) continue;
      saver_ = 0;
      mb_per_save_ = growth.mb_per_event;
      job_.ranks.front().saves = true;
    }
  }

  void set_apart() {
    std::vector<size_t> others;
    for (size_t i = 0; i < run_.processes.size(); ++i) {
      if (rank_of_[i] != ranks_[*saver_]) others.push_back(i);
    }
    std::vector<ProcessGrowth> processes = std::move(judged_.verdict.processes);
    judged_ = judge_ahead(part_of(run_, others), policy_);
    judged_.verdict.processes = std::move(processes);
    const std::string& name = parts_[*saver_].name;
    judged_.verdict.warnings.push_back({FindingKind::rank_set_apart, {}, {{"name", name}}});
    Finding saves{FindingKind::rank_saves, {}, {{"name", name}}};
    if (mb_per_save_) saves.numbers.push_back({"mb_per_save", *mb_per_save_, Unit::mb});
    evidence_.push_back(std::move(saves));
  }

  void reach_of(const Tally& tally) {
    if (tally.leaks == 0) return;
    std::set<std::string> nodes;
    std::set<std::string> leaking;
    for (const RankVerdict& rank : job_.ranks) {
      nodes.insert(rank.node);
      if (rank.word == Word::leak && !rank.saves) leaking.insert(rank.node);
    }
    const bool whole_node =
        leaking.size() == 1 && nodes.size() > 1 &&
        std::ranges::all_of(job_.ranks, [&](const RankVerdict& rank) {
          return !leaking.contains(rank.node) || rank.word == Word::leak || rank.saves;
        });
    job_.reach = tally.leaks == tally.series ? JobVerdict::Reach::all
                 : tally.leaks == 1          ? JobVerdict::Reach::one_rank
                 : whole_node                ? JobVerdict::Reach::one_node
                                             : JobVerdict::Reach::some;
    for (RankVerdict& rank : job_.ranks) {
      rank.odd = rank.word == Word::leak && !rank.saves && job_.reach != JobVerdict::Reach::all;
    }
  }

  void describe_job() {
    if (run_.context.job) job_.id = run_.context.job->text;
    const std::set<int64_t> present(ranks_.begin(), ranks_.end());
    const double world = run_.context.world ? run_.context.world->value : 0;
    job_.world =
        world >= 1 && world <= static_cast<double>(kMaxRank) ? static_cast<size_t>(world) : 0;
    for (size_t rank = 0; rank < job_.world; ++rank) {
      if (present.contains(static_cast<int64_t>(rank))) continue;
      ++job_.missing_count;
      if (job_.missing.size() < kMostMissing) job_.missing.push_back(static_cast<int64_t>(rank));
    }
  }

  // What a node holds, judged against its own limit; in one tree there is one, and it is judged.
  void judge_nodes() {
    if (run_.nodes.empty()) {
      const Verdict& all = judged_.verdict;
      job_.nodes.push_back({.name = node_name(run_, run_.processes.front()),
                            .ranks = parts_.size(),
                            .word = all.word,
                            .confidence = all.confidence,
                            .first_mb = all.first_mb,
                            .last_mb = all.last_mb,
                            .risk = all.risk});
      return;
    }
    for (size_t n = 0; n < run_.nodes.size(); ++n) judge_node(static_cast<int64_t>(n));
    const NodeVerdict* first = first_to_fill();
    if (first == nullptr) return;
    judged_.verdict.risk = first->risk;
    // The limit is that node's, and what is drawn and told is the sum over all.
    if (job_.nodes.size() > 1) judged_.verdict.risk.limit_mb.reset();
  }

  void judge_node(int64_t node) {
    std::vector<size_t> processes;
    std::set<int64_t> ranks;
    for (size_t i = 0; i < run_.processes.size(); ++i) {
      if (run_.processes[i].node != node) continue;
      processes.push_back(i);
      if (rank_of_[i] >= 0) ranks.insert(rank_of_[i]);
    }
    const Node& known = run_.nodes[static_cast<size_t>(node)];
    Run alone = part_of(run_, processes);
    alone.context.limit_mb.reset();
    if (known.limit_mb > 0) alone.context.limit_mb = Fact{known.limit_mb, known.limit_source};
    const Verdict verdict = plateau::judge(alone, policy_);
    job_.nodes.push_back({.name = known.name,
                          .ranks = ranks.size(),
                          .word = verdict.word,
                          .confidence = verdict.confidence,
                          .first_mb = verdict.first_mb,
                          .last_mb = verdict.last_mb,
                          .risk = verdict.risk});
  }

  // The node whose limit is passed soonest; else the likeliest to pass it; else the fullest.
  [[nodiscard]] const NodeVerdict* first_to_fill() const {
    const auto key = [](const NodeVerdict& node) {
      const double full = node.risk.limit_mb ? node.last_mb / *node.risk.limit_mb : -1;
      return std::tuple(-node.risk.at_step.value_or(HUGE_VAL), node.risk.oom.value_or(0), full);
    };
    const auto first = std::ranges::max_element(
        job_.nodes, [&](const NodeVerdict& a, const NodeVerdict& b) { return key(a) < key(b); });
    return first == job_.nodes.end() || !first->risk.limit_mb ? nullptr : &*first;
  }

  void tell(const Tally& tally) {
    tell_reach(tally);
    const NodeVerdict* node = run_.nodes.size() > 1 ? first_to_fill() : nullptr;
    if (node != nullptr && node->risk.at_step) {
      evidence_.push_back({FindingKind::node_fills_first,
                           {{"ranks", static_cast<double>(node->ranks)},
                            {"limit_mb", *node->risk.limit_mb, Unit::mb},
                            {"at_step", *node->risk.at_step, Unit::moment}},
                           {{"node", node->name}}});
    }
    tell_gaps();
    std::vector<Finding>& evidence = judged_.verdict.evidence;
    evidence.insert(evidence.begin(), std::make_move_iterator(evidence_.begin()),
                    std::make_move_iterator(evidence_.end()));
  }

  void tell_reach(const Tally& tally) {
    const auto count = [](size_t number) { return static_cast<double>(number); };
    if (job_.reach == JobVerdict::Reach::all && tally.series > 1) {
      evidence_.insert(evidence_.begin(),
                       {FindingKind::ranks_all_leak, {{"ranks", count(tally.leaks)}}, {}});
    } else if (job_.reach == JobVerdict::Reach::one_node && tally.open == 0) {
      const auto leaks = [](const RankVerdict& rank) { return rank.odd; };
      evidence_.insert(evidence_.begin(),
                       {FindingKind::ranks_of_node_leak,
                        {{"ranks", count(tally.leaks)}, {"level", count(tally.level)}},
                        {{"node", std::ranges::find_if(job_.ranks, leaks)->node}}});
    } else {
      evidence_.insert(evidence_.begin(), finding_of(tally, parts_));
    }
  }

  // Who is not there, who went early, who came again.
  void tell_gaps() {
    std::vector<Finding>& warnings = judged_.verdict.warnings;
    if (job_.missing_count > 0) {
      std::string names = fmt::format("rank {}", fmt::join(job_.missing, ", "));
      if (job_.missing_count > job_.missing.size()) names += ", ...";
      warnings.push_back({FindingKind::ranks_missing,
                          {{"missing", static_cast<double>(job_.missing_count)},
                           {"world", static_cast<double>(job_.world)}},
                          {{"names", names}}});
    }
    size_t restarted = 0;
    size_t most = 0;
    bool early_told = false;
    for (const RankVerdict& rank : job_.ranks) {
      restarted += rank.lives > 1 ? 1 : 0;
      most = std::max(most, rank.lives - 1);
      if (!rank.ended_step || early_told) continue;
      early_told = true;
      warnings.push_back({FindingKind::rank_ended_early,
                          {{"step", *rank.ended_step, Unit::moment},
                           {"last", judged_.verdict.last_step, Unit::moment}},
                          {{"name", fmt::format("rank {}", rank.rank)}}});
    }
    if (restarted == 0) return;
    warnings.push_back(
        {FindingKind::ranks_restarted,
         {{"ranks", static_cast<double>(restarted)}, {"restarts", static_cast<double>(most)}},
         {}});
  }

  const Run& run_;
  const Policy& policy_;
  Judged& judged_;
  std::vector<int64_t> rank_of_;  // By process.
  std::vector<int64_t> ranks_;    // Parallel to parts_.
  std::vector<RankPart> parts_;
  std::vector<Judged> each_;
  std::optional<size_t> saver_;
  std::optional<double> mb_per_save_;
  std::vector<Finding> evidence_;
  JobVerdict job_;
};

}  // namespace

std::vector<int64_t> ranks_of(const Run& run) {
  std::map<int64_t, size_t> place;
  std::set<int64_t> told;
  for (size_t i = 0; i < run.processes.size(); ++i) {
    place[run.processes[i].id] = i;
    if (run.processes[i].rank >= 0) told.insert(run.processes[i].rank);
  }
  if (told.size() < 2) {
    const std::optional<Fact>& fact = run.context.rank;
    const bool sane = fact && fact->value >= 0 && fact->value <= static_cast<double>(kMaxRank);
    const int64_t all = !told.empty() ? *told.begin()
                        : sane        ? static_cast<int64_t>(fact->value)
                                      : -1;
    return std::vector<int64_t>(run.processes.size(), all);
  }
  std::vector<int64_t> ranks;
  ranks.reserve(run.processes.size());
  for (const Process& process : run.processes) {
    const Process* at = &process;
    // A chain of parents is no longer than there are processes, whatever the file says.
    for (size_t up = 0; at->rank < 0 && up < run.processes.size(); ++up) {
      const auto parent = place.find(at->parent);
      if (parent == place.end()) break;
      at = &run.processes[parent->second];
    }
    ranks.push_back(at->rank);
  }
  return ranks;
}

void judge_ranks(const Run& run, const Policy& policy, Judged& judged) {
  RankJudge judge(run, policy, judged);
  if (judge.is_job()) judge.judge();
}

}  // namespace plateau
