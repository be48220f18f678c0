// SPDX-License-Identifier: Apache-2.0
#include "session/journal.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "base/units.h"

namespace plateau {
namespace {

constexpr size_t kNoColumn = std::numeric_limits<size_t>::max();
constexpr double kCostMoved = 1.05;
constexpr double kEpochMoved = 0.005;
constexpr size_t kTornWorthSaying = 10;
constexpr size_t kMaxRanksSaid = 4096;  // Processes of one tree that may say their rank.
constexpr size_t kMaxSaid = 256;        // Gauges one loop may name; more are ignored.

Process described(const ProcessSample& sample) {
  return {.id = sample.key.pid,
          .parent = sample.parent,
          .id_is_pid = true,
          .name = sample.name,
          .role = sample.role,
          .role_reason = sample.role_reason,
          .rank = sample.rank};
}

bool same_words(const Process& a, const Process& b) {
  return a.parent == b.parent && a.name == b.name && a.role == b.role &&
         a.role_reason == b.role_reason && a.rank == b.rank;
}

}  // namespace

Journal::Known& Journal::known(const ProcessSample& process) {
  const auto [at, is_new] = known_.try_emplace(process.key);
  Known& known = at->second;
  Process now = described(process);
  const auto said = ranks_said_.find(process.key.pid);
  if (said != ranks_said_.end()) now.rank = said->second;
  if (is_new) {
    known.columns.fill(kNoColumn);
    known.index = recording_.process(now, process.key.start_ticks);
    known.described = std::move(now);
  } else if (!same_words(known.described, now)) {
    recording_.update_process(known.index, now);
    known.described = std::move(now);
  }
  return known;
}

void Journal::gauge(Sample& row, size_t process, std::string_view name, double value) {
  const auto [at, is_new] = gauges_.try_emplace({process, std::string(name)}, 0);
  if (is_new) at->second = recording_.gauge_column(process, name);
  row.set_gauge(at->second, value);
}

void Journal::add_process(const ProcessSample& process, Sample& row) {
  Known& of = known(process);
  for (size_t i = 0; i < kProcessFigures.size(); ++i) {
    const auto [metric, figure] = kProcessFigures[i];
    const int64_t kb = process.*figure;
    // A column that was never more than zero (no swap, no GPU) is not opened. That a forked worker
    // owns nothing yet is a figure of its own: without it all it shares would count as its own.
    const bool says_nothing = kb == 0 && metric != Metric::pss_anon;
    if (kb == kUnread || (says_nothing && of.columns[i] == kNoColumn)) continue;
    if (of.columns[i] == kNoColumn) {
      of.columns[i] = recording_.memory_column(of.index, metric);
    }
    row.set_kb(of.columns[i], kb);
  }
  if (process.threads != kUnread) {
    gauge(row, of.index, "threads", static_cast<double>(process.threads));
  }
  if (process.fds != kUnread) gauge(row, of.index, "fds", static_cast<double>(process.fds));
  if (process.java_collections != kUnread) {
    gauge(row, of.index, kJavaCollections, static_cast<double>(process.java_collections));
  }
  if (process.java_limit_kb != kUnread) {
    gauge(row, of.index, kJavaHeapLimit, std::round(mb_of_kb(process.java_limit_kb)));
  }
  gauge(row, of.index, "cpu_s", std::round(process.cpu_s * 100) / 100);
}

// Figures of the machine and the cgroup stand beside the first process: they belong to none.
void Journal::add_machine(const Snapshot& snapshot, Sample& row) {
  const size_t first = known(snapshot.processes.front()).index;
  if (cost_cpu_s_ >= 0) {
    gauge(row, first, kCostCpu, cost_cpu_s_);
    gauge(row, first, kCostWalks, cost_walk_share_);
  }
  const auto add = [&](std::string_view name, int64_t kb) {
    if (kb != kUnread) gauge(row, first, name, std::round(mb_of_kb(kb)));
  };
  add("system.available_mb", snapshot.system_available_kb);
  // Where nobody uses any, how much there is does not matter.
  if (snapshot.shm_used_kb > 0 || gauges_.contains({first, std::string(kShmUsed)})) {
    add(kShmSize, snapshot.shm_size_kb);
    add(kShmUsed, snapshot.shm_used_kb);
  }
  add(kAddressLimit, snapshot.address_limit_kb);
  if (snapshot.cgroup.version == 0) return;
  add("cgroup.usage_mb", snapshot.cgroup.usage_kb);
  add("cgroup.anon_mb", snapshot.cgroup.anon_kb);
  add("cgroup.file_mb", snapshot.cgroup.file_kb);
  add("cgroup.shmem_mb", snapshot.cgroup.shmem_kb);
}

// Where memory ends, if nobody has said: at the cgroup's limit, else with the machine.
void Journal::state_limit(const Snapshot& snapshot) {
  if (stated_.limit_mb) return;
  if (snapshot.cgroup.limit_kb != kUnread) {
    fact(&Context::limit_mb, mb_of_kb(snapshot.cgroup.limit_kb), "the limit of its cgroup");
  } else if (snapshot.system_total_kb != kUnread) {
    fact(&Context::limit_mb, mb_of_kb(snapshot.system_total_kb), "the memory of this machine");
  }
}

void Journal::sample(const Snapshot& snapshot, double at_s) {
  for (const std::string& complaint : snapshot.complaints) recording_.note(complaint);
  if (!snapshot.whole) ++torn_;
  if (!snapshot.whole || snapshot.processes.empty()) return;
  state_limit(snapshot);
  if (snapshot.launched) learn_launch(*snapshot.launched);
  alive_.clear();
  Sample row{.at = {.step = step_, .time_s = at_s, .epoch = epoch_}};
  for (const ProcessSample& process : snapshot.processes) {
    alive_.insert(process.key.pid);
    add_process(process, row);
  }
  add_machine(snapshot, row);
  for (const auto& [name, said] : said_) row.set_gauge(said.first, said.second);
  recording_.row(row);
  const int64_t kills = snapshot.cgroup.oom_kills;
  if (oom_kills_ != kUnread && kills > oom_kills_) {
    event(EventKind::oom, "the kernel OOM-killed a process in this cgroup", at_s);
  }
  oom_kills_ = kills;
}

void Journal::finish(const Ending& ending) {
  // One or two are what the end of every job looks like.
  if (torn_ >= kTornWorthSaying) {
    recording_.note(fmt::format(
        "{} samples are left out: a process was ending while they were taken, or could not be read",
        torn_));
  }
  recording_.finish(ending);
}

void Journal::cost(double watcher_cpu_s, double walk_share) {
  // Hundredths of a second and thousandths of a per cent: what the sentence at the end shows.
  const double cpu_s = std::round(watcher_cpu_s * 100) / 100;
  if (cost_cpu_s_ >= 0 && cpu_s <= kCostMoved * cost_cpu_s_) return;
  cost_cpu_s_ = std::max(cpu_s, 0.0);
  cost_walk_share_ = std::round(walk_share * 1e5) / 1e5;
}

bool Journal::advance(int64_t step, double epoch) {
  if (step < step_) return false;
  const bool moved = step > step_;
  step_ = step;
  if (std::isfinite(epoch)) epoch_ = epoch;
  learn_epoch_steps();
  return moved;
}

// The loop says step and epoch but seldom the length of the epoch. The ratio settles as they grow;
// it is stated anew when it moves by half a per cent.
void Journal::learn_epoch_steps() {
  ratio_.see(step_, epoch_);
  const std::optional<double> steps = ratio_.steps();
  if (epoch_stated_ || !steps || std::fabs(*steps / epoch_steps_ - 1) < kEpochMoved) return;
  epoch_steps_ = *steps;
  recording_.fact(&Context::epoch_steps, *steps, EpochRatio::kSource);
}

void Journal::fact(FactField which, double value, std::string_view source, std::string_view text) {
  // Progress bars say their total on every line.
  const std::optional<Fact>& known = stated_.*which;
  if (known && known->value == value && known->text == text) return;
  stated_.*which = Fact{value, std::string(source), std::string(text)};
  if (which == &Context::epoch_steps || which == &Context::examples) epoch_stated_ = true;
  recording_.fact(which, value, source, text);
}

// The user's word comes first, and so does what is known already.
void Journal::learn_launch(const Context& told) {
  for (const FactKind& kind : kFacts) {
    const std::optional<Fact>& said = told.*kind.field;
    if (said && !(stated_.*kind.field)) fact(kind.field, said->value, said->source, said->text);
  }
}

// A rank is that of the process which says so: a tree may hold many.
void Journal::learn_rank(StepWords& words) {
  const std::optional<Fact> said = std::exchange(words.facts.rank, std::nullopt);
  if (!said || words.pid <= 0 || said->value > static_cast<double>(kMaxRank)) return;
  if (ranks_said_.size() >= kMaxRanksSaid && !ranks_said_.contains(words.pid)) return;
  ranks_said_[words.pid] = static_cast<int64_t>(said->value);
}

void Journal::facts(const Context& given) {
  for (const FactKind& kind : kFacts) {
    const std::optional<Fact>& stated = given.*kind.field;
    if (stated) fact(kind.field, stated->value, stated->source, stated->text);
  }
}

void Journal::facts_of_user(const Context& given) {
  for (const FactKind& kind : kFacts) {
    if (given.*kind.field) precedence_.user_said(kind.field);
  }
  facts(given);
}

bool Journal::words(const StepWords& said, double at_s) {
  if (said.from_auto && said.kind == StepWords::Kind::run) precedence_.module_is_in(at_s);
  const auto lives = [this](pid_t pid) { return alive_.contains(pid); };
  const std::optional<StepWords> admitted = precedence_.admit(said, step_, lives);
  if (!admitted) return false;
  StepWords words = *admitted;
  switch (words.kind) {
    case StepWords::Kind::run:
      learn_rank(words);
      facts(words.facts);
      return false;
    case StepWords::Kind::step:
      loop_speaks_ = true;
      return advance(words.step, words.epoch);
    case StepWords::Kind::begin:
      event(kind_of_event_word(words.name), words.name, at_s);
      return false;
    case StepWords::Kind::end:
      event(EventKind::mark, words.name + " ended", at_s);
      return false;
    case StepWords::Kind::gauge: {
      if (known_.empty() || (said_.size() >= kMaxSaid && !said_.contains(words.name))) return false;
      size_t process = known_.begin()->second.index;
      for (const auto& [key, of] : known_) {
        if (key.pid == words.pid) process = of.index;
      }
      const auto [at, is_new] = said_.try_emplace(words.name, 0, words.value);
      if (is_new) at->second.first = recording_.gauge_column(process, words.name);
      at->second.second = words.value;
      return false;
    }
    case StepWords::Kind::mark:
      event(kind_of_event_word(words.name), words.name, at_s);
      return false;
    case StepWords::Kind::subscribe:
      return false;  // The hub's business.
  }
  return false;
}

bool Journal::output(const LineClock::News& news, double at_s) {
  if (loop_speaks_ || precedence_.waits_for_module(at_s)) return false;
  for (const auto& [field, value] : news.facts) fact(field, value, "the job's output");
  for (const EventKind kind : news.events) event(kind, event_name(kind), at_s);
  if (news.step < 0) {
    if (std::isfinite(news.epoch) && step_ >= 0) return advance(step_, news.epoch);
    return false;
  }
  return advance(news.step, news.epoch);
}

void Journal::event(EventKind kind, std::string_view text, double at_s) {
  recording_.event(kind, text, at_s);
}

}  // namespace plateau
