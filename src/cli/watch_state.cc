// SPDX-License-Identifier: Apache-2.0
#include "cli/watch_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "base/units.h"
#include "session/machine.h"

namespace plateau {
namespace {

constexpr size_t kMaxEvents = 50;
constexpr double kRateWindowSeconds = 60;  // Steps per second are told over the last minute.

double mb_of(int64_t kb) {
  return kb == kUnread ? kMissing : mb_of_kb(kb);
}

std::string time_of_day() {
  const time_t now = time(nullptr);
  tm local = {};
  localtime_r(&now, &local);
  return fmt::format("{:02}:{:02}:{:02}", local.tm_hour, local.tm_min, local.tm_sec);
}

LiveTotals totals_of(const Snapshot& snapshot) {
  LiveTotals totals;
  for (const ProcessSample& process : snapshot.processes) {
    add_known(totals.owned_mb, amount_mb(kOwnedPages, process));
    add_known(totals.shared_mb, amount_mb(kSharedPages, process));
    add_known(totals.file_mb, amount_mb(kFilePages, process));
    add_known(totals.swap_mb, amount_mb(kSwappedPages, process));
    add_known(totals.gpu_mb, amount_mb(kGpuPages, process));
  }
  return totals;
}

// Seconds until the limit at the rate the verdict sees; none while level.
std::optional<double> seconds_to(const LiveLimit& limit, const Verdict& verdict,
                                 double steps_per_s) {
  const double per_second = verdict.clock == Clock::seconds ? 1
                            : verdict.clock == Clock::steps ? steps_per_s
                                                            : kMissing;
  const double rate = verdict.current_rate_mb_per_step * per_second;
  if (!(rate > 0) || !std::isfinite(limit.mb) || !std::isfinite(limit.used_mb)) return std::nullopt;
  return std::max(0.0, limit.mb - limit.used_mb) / rate;
}

}  // namespace

LiveLimit live_limit(const Snapshot& snapshot, const Context& stated) {
  LiveLimit limit;
  limit.used_mb = held_mb(snapshot);
  if (stated.limit_mb) {
    limit.mb = stated.limit_mb->value;
    limit.source = stated.limit_mb->source;
  }
  return limit;
}

void WatchState::note(double at_s, const std::string& text) {
  events_.push_back({at_s, text});
  if (events_.size() > kMaxEvents) events_.pop_front();
}

void WatchState::see(const ProcessSample& process, double at_s) {
  const auto [at, is_new] = seen_.try_emplace(process.key);
  Seen& seen = at->second;
  if (is_new) {
    seen.first_owned_mb = amount_mb(kOwnedPages, process);
    seen.name = process.name;
    if (!first_) {
      note(at_s, fmt::format("pid {} ({}, {}) started", process.key.pid, process.name,
                             role_name(process.role)));
    }
  } else if (at_s > seen.last_at_s) {
    seen.cpu_percent = 100 * (process.cpu_s - seen.last_cpu_s) / (at_s - seen.last_at_s);
  }
  seen.last_cpu_s = process.cpu_s;
  seen.last_at_s = at_s;
}

void WatchState::tick(const Watcher& watcher) {
  const Snapshot& snapshot = watcher.session().snapshot();
  const double at_s = watcher.session().now();
  const int64_t step = watcher.session().journal().step();
  for (const ProcessSample& process : snapshot.processes) see(process, at_s);
  for (const ProcessKey& key : snapshot.gone) {
    const auto found = seen_.find(key);
    if (found == seen_.end()) continue;
    note(at_s, fmt::format("pid {} ({}) ended", key.pid, found->second.name));
    seen_.erase(found);
  }
  for (const std::string& complaint : snapshot.complaints) complaints_.push_back(complaint);
  if (step >= 0) steps_.emplace_back(at_s, step);
  while (steps_.size() > 2 && steps_.front().first < at_s - kRateWindowSeconds) steps_.pop_front();
  first_ = false;
}

LiveProcess WatchState::live(const ProcessSample& process) const {
  LiveProcess shown;
  shown.pid = process.key.pid;
  shown.parent = process.parent;
  shown.name = process.name;
  shown.role = process.role;
  shown.role_reason = process.role_reason;
  shown.owned_mb = amount_mb(kOwnedPages, process);
  shown.rss_mb = mb_of(process.rss_kb);
  shown.file_mb = mb_of(process.file_kb);
  shown.shmem_mb = amount_mb(kSharedPages, process);
  shown.swap_mb = mb_of(process.swap_kb);
  shown.gpu_mb = mb_of(process.gpu_kb);
  shown.uss_mb = mb_of(process.uss_kb);
  shown.pss_mb = mb_of(process.pss_kb);
  shown.threads = process.threads;
  shown.fds = process.fds;
  if (const auto found = seen_.find(process.key); found != seen_.end()) {
    shown.growth_mb = shown.owned_mb - found->second.first_owned_mb;
    shown.cpu_percent = found->second.cpu_percent;
  }
  return shown;
}

// Parents before their children, siblings by pid. A process whose parent is not shown stands at the
// top, like a root.
std::vector<LiveProcess> WatchState::in_tree_order(const Snapshot& snapshot) const {
  std::multimap<pid_t, const ProcessSample*> children;
  std::vector<std::pair<const ProcessSample*, size_t>> open;  // With its depth.
  const auto shown = [&snapshot](pid_t pid) {
    return std::any_of(snapshot.processes.begin(), snapshot.processes.end(),
                       [pid](const ProcessSample& process) { return process.key.pid == pid; });
  };
  for (const ProcessSample& process : snapshot.processes) {
    if (process.parent != process.key.pid && shown(process.parent)) {
      children.emplace(process.parent, &process);
    } else {
      open.emplace_back(&process, 0);
    }
  }
  std::reverse(open.begin(), open.end());
  std::vector<LiveProcess> ordered;
  while (!open.empty() && ordered.size() < snapshot.processes.size()) {
    const auto [process, depth] = open.back();
    open.pop_back();
    ordered.push_back(live(*process));
    ordered.back().depth = depth;
    const auto [first, last] = children.equal_range(process->key.pid);
    for (auto at = last; at != first;) open.emplace_back((--at)->second, depth + 1);
  }
  return ordered;
}

LiveState WatchState::state(const Watcher& watcher, const std::string& status) const {
  const Session& session = watcher.session();
  const Snapshot& snapshot = session.snapshot();
  const Journal& journal = session.journal();
  LiveState state;
  state.title = watcher.command();
  state.root_pid = watcher.root_pid();
  state.clock_text = time_of_day();
  state.elapsed_s = session.now();
  state.step = journal.step();
  if (journal.stated().total_steps) {
    state.total_steps = static_cast<int64_t>(journal.stated().total_steps->value);
  }
  if (steps_.size() > 1 && steps_.back().first > steps_.front().first) {
    state.steps_per_s = static_cast<double>(steps_.back().second - steps_.front().second) /
                        (steps_.back().first - steps_.front().first);
  }
  state.epoch = journal.epoch();
  state.ended = watcher.over();
  state.processes = in_tree_order(snapshot);
  state.totals = totals_of(snapshot);
  state.limit = live_limit(snapshot, journal.stated());
  if (session.verdict() != nullptr) {
    state.verdict = *session.verdict();
    state.limit.seconds_to_limit = seconds_to(state.limit, *state.verdict, state.steps_per_s);
  }
  state.system_available_mb = mb_of(snapshot.system_available_kb);
  state.system_total_mb = mb_of(snapshot.system_total_kb);
  state.cgroup = {snapshot.cgroup.path, mb_of(snapshot.cgroup.usage_kb),
                  mb_of(snapshot.cgroup.limit_kb), snapshot.cgroup.oom_kills};
  for (const GpuSample& gpu : snapshot.gpus) {
    state.gpus.push_back({gpu.index, gpu.name, mb_of(gpu.used_kb), mb_of(gpu.total_kb)});
  }
  state.cost = {100 * session.cpu_s() / std::max(1e-3, state.elapsed_s),
                100 * snapshot.cost.worst_share, session.interval_s()};
  state.events.assign(events_.begin(), events_.end());
  state.complaints = complaints_;
  state.recording_path = journal.recording().path();
  state.status = status;
  return state;
}

}  // namespace plateau
