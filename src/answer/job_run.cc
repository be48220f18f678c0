// SPDX-License-Identifier: Apache-2.0
#include "answer/job_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "answer/ranks.h"
#include "recording/facts.h"
#include "verdict/signal.h"

namespace plateau {
namespace {

constexpr size_t kMostCells = size_t{16} << 20;
constexpr size_t kMostNotes = 20;
// Within this share of its length after the others, a rank has started with them.
constexpr double kBeginTogether = 0.05;
constexpr size_t kAbsent = static_cast<size_t>(-1);

int64_t whole(const std::optional<Fact>& fact) {
  const bool sane = fact && fact->value >= 0 && fact->value <= static_cast<double>(kMaxRank);
  return sane ? static_cast<int64_t>(fact->value) : -1;
}

// One recording on its way into the job.
struct Track {
  const Run* run = nullptr;
  std::vector<int64_t> rank_of;  // By process.
  int64_t rank = -1;             // The lowest one.
  int64_t attempt = 0;
  size_t life = 0;            // Which one of its rank's.
  size_t node = 0;            // Index into Run::nodes.
  std::vector<double> clock;  // By instant: steps, or seconds since its start; counted on.
  double base_s = 0;          // Of its own elapsed time on that of the job.
  std::vector<size_t> row;    // By instant of the job: which instant of `run`; kAbsent.

  [[nodiscard]] double start_s() const { return run->instants.front().time_s; }
  [[nodiscard]] double end_s() const { return run->instants.back().time_s; }
  [[nodiscard]] double elapsed_s(size_t instant) const {
    const double passed = run->instants[instant].time_s - start_s();
    return base_s + (std::isfinite(passed) ? passed : 0);
  }
};

// Metrics that pages are made of (recording/pages.h); RSS beside them would only cost room.
bool is_needed(const Run& run, Metric metric) {
  const auto in = [metric](const PageKind& kind) {
    return std::ranges::any_of(kind.ladder, [metric](const Rung& rung) {
      return rung.metric == metric || rung.plus == metric || rung.or_smaller == metric;
    });
  };
  const auto has = [&run](Metric of) {
    return std::ranges::any_of(run.series,
                               [of](const Series& series) { return series.metric == of; });
  };
  if (metric == Metric::rss || metric == Metric::memory)
    return !has(Metric::anon) && !has(Metric::pss);
  if (metric == Metric::system_used) return false;  // A machine's, once for each of its ranks.
  return std::ranges::any_of(kPageKinds, in);
}

class Assembly {
 public:
  explicit Assembly(std::span<const Run> runs) : runs_(runs) {}

  Result<Run> put_together() {
    take_tracks();
    if (tracks_.empty()) {
      return Error{Error::Kind::no_samples, "none of these recordings of a job holds a sample"};
    }
    leave_out_doubles();
    order_lives();
    set_clocks();
    lay_grid();
    for (Track& track : tracks_) place_rows(track);
    fill_instants();
    for (Track& track : tracks_) add_processes(track);
    add_events();
    describe();
    return std::move(job_);
  }

 private:
  void note(std::string text) {
    if (job_.notes.size() < kMostNotes) job_.notes.push_back(std::move(text));
  }

  void take_tracks() {
    for (const Run& run : runs_) {
      if (run.instants.empty() || run.series.empty()) {
        note(run.source + ": holds no sample, left out");
        continue;
      }
      Track track{.run = &run, .attempt = std::max<int64_t>(0, whole(run.context.attempt))};
      track.rank_of = ranks_of(run);
      for (const int64_t rank : track.rank_of) {
        if (rank >= 0 && (track.rank < 0 || rank < track.rank)) track.rank = rank;
      }
      track.node = node_of(run);
      tracks_.push_back(std::move(track));
    }
  }

  // What may hold memory by itself: a machine, or one container of several on it.
  size_t node_of(const Run& run) {
    const std::string named = run.context.node ? run.context.node->text : "";
    std::string name = named.empty() ? run.host : named;
    if (name.empty()) name = run.source;
    // Pods of one machine have host names and limits of their own.
    const std::string key = name + '\n' + run.host;
    const auto [at, is_new] = node_place_.try_emplace(key, job_.nodes.size());
    if (is_new) job_.nodes.push_back({name, 0, ""});
    Node& node = job_.nodes[at->second];
    const std::optional<Fact>& limit = run.context.limit_mb;
    if (limit && limit->value > 0 && (node.limit_mb == 0 || limit->value < node.limit_mb)) {
      node.limit_mb = limit->value;
      node.limit_source = limit->source;
    }
    return at->second;
  }

  // How much of the shorter one's time the two have in common. Clocks of two machines do not agree,
  // so across machines it is steps that tell.
  static double overlap(const Track& a, const Track& b) {
    const bool by_steps = a.run->host != b.run->host && a.run->has_steps() && b.run->has_steps();
    const auto begin = [by_steps](const Track& of) {
      return by_steps ? static_cast<double>(of.run->instants.front().step) : of.start_s();
    };
    const auto end = [by_steps](const Track& of) {
      return by_steps ? static_cast<double>(of.run->instants.back().step) : of.end_s();
    };
    const double shorter = std::min(end(a) - begin(a), end(b) - begin(b));
    const double common = std::min(end(a), end(b)) - std::max(begin(a), begin(b));
    if (!std::isfinite(common) || !(shorter > 0)) return common >= 0 ? 1 : 0;
    return common / shorter;
  }

  // The same rank and attempt at the same time: somebody recorded it twice.
  void leave_out_doubles() {
    std::ranges::stable_sort(tracks_, [](const Track& a, const Track& b) {
      return std::tuple(a.rank, a.attempt, b.run->instants.size()) <
             std::tuple(b.rank, b.attempt, a.run->instants.size());
    });
    std::vector<Track> kept;
    for (Track& track : tracks_) {
      const bool again = std::ranges::any_of(kept, [&track](const Track& other) {
        return other.rank == track.rank && other.attempt == track.attempt &&
               overlap(other, track) > 0.5;
      });
      if (again) {
        note(fmt::format("{}: rank {} is there twice at the same time; the shorter one is left out",
                         track.run->source, track.rank));
        continue;
      }
      kept.push_back(std::move(track));
    }
    tracks_ = std::move(kept);
  }

  void order_lives() {
    std::ranges::stable_sort(tracks_, [](const Track& a, const Track& b) {
      return std::tuple(a.rank, a.attempt, a.start_s()) <
             std::tuple(b.rank, b.attempt, b.start_s());
    });
    for (size_t i = 1; i < tracks_.size(); ++i) {
      if (tracks_[i].rank == tracks_[i - 1].rank) tracks_[i].life = tracks_[i - 1].life + 1;
    }
    // By life, then by rank, so that each life finds the one before it in place.
    std::ranges::stable_sort(tracks_,
                             [](const Track& a, const Track& b) { return a.life < b.life; });
  }

  [[nodiscard]] const Track* life_before(const Track& track) const {
    const auto found = std::ranges::find_if(tracks_, [&track](const Track& other) {
      return other.rank == track.rank && other.life + 1 == track.life;
    });
    return found == tracks_.end() ? nullptr : &*found;
  }

  // Own clocks first; then every life is counted on, by the same amount for all ranks, from where
  // the one before it ended.
  void set_clocks() {
    by_steps_ =
        std::ranges::all_of(tracks_, [](const Track& track) { return track.run->has_steps(); });
    if (!by_steps_) {
      note(
          "not every recording has steps: ranks are laid side by side by the seconds since each "
          "one's start");
    }
    for (Track& track : tracks_) {
      track.clock.reserve(track.run->instants.size());
      for (size_t i = 0; i < track.run->instants.size(); ++i) {
        track.clock.push_back(by_steps_ ? static_cast<double>(track.run->instants[i].step)
                                        : track.elapsed_s(i));
      }
    }
    for (size_t life = 1; life <= tracks_.back().life; ++life) {
      double on = 0;
      double on_s = 0;
      for (const Track& track : tracks_) {
        const Track* before = track.life == life ? life_before(track) : nullptr;
        if (before == nullptr) continue;
        on = std::max(on, before->clock.back() + 1 - track.clock.front());
        on_s = std::max(on_s, before->elapsed_s(before->run->instants.size() - 1));
      }
      for (Track& track : tracks_) {
        if (track.life != life) continue;
        track.base_s = on_s;
        for (double& at : track.clock) at += on;
      }
    }
  }

  void lay_grid() {
    std::vector<double> all;
    size_t columns = 1;
    for (const Track& track : tracks_) {
      all.insert(all.end(), track.clock.begin(), track.clock.end());
      columns += track.run->series.size();
    }
    std::ranges::sort(all);
    const auto rest = std::ranges::unique(all);
    all.erase(rest.begin(), rest.end());
    const size_t most = std::clamp<size_t>(kMostCells / columns, 64, kMostJobInstants);
    // Evenly, with the first and the last.
    const size_t count = std::min(most, all.size());
    grid_.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      grid_.push_back(all[count < 2 ? 0 : i * (all.size() - 1) / (count - 1)]);
    }
  }

  // Of each stretch the sample that owned least; of the first step, which holds the start-up, the
  // last one, and of the last, which holds the end, the first.
  void place_rows(Track& track) {
    const TreeColumns columns(*track.run);
    const std::vector<double>& owned = columns.owned();
    const auto own = [&owned](size_t i) { return std::isfinite(owned[i]) ? owned[i] : HUGE_VAL; };
    const double first = track.clock.front();
    const double last = track.clock.back();
    // Before its first step a later life is starting up; that of the first is left out by the
    // verdict.
    const bool starts_up = track.life > 0 && !track.run->command.empty() && last > first;
    size_t next = 0;
    size_t chosen = kAbsent;
    while (starts_up && track.clock[next] == first) ++next;
    track.row.assign(grid_.size(), kAbsent);
    for (size_t g = 0; g < grid_.size(); ++g) {
      if (grid_[g] < first) continue;
      if (grid_[g] > last && next == track.clock.size()) break;
      size_t best = kAbsent;
      for (; next < track.clock.size() && track.clock[next] <= grid_[g]; ++next) {
        const bool at_end = track.clock[next] == last && last > first;
        if (at_end && best != kAbsent && track.clock[best] == last) continue;
        const bool at_start = track.clock[next] == first;
        if (best == kAbsent || at_start || (at_end && track.clock[best] != last) ||
            own(next) <= own(best)) {
          best = next;
        }
      }
      if (best != kAbsent) chosen = best;
      track.row[g] = chosen;
    }
    begin_together(track, kBeginTogether * (last - first));
  }

  // Ranks that start together are seen first at one step or at the next; none of them came later.
  void begin_together(Track& track, double reach) const {
    const auto seen = std::ranges::find_if(track.row, [](size_t row) { return row != kAbsent; });
    if (seen == track.row.end()) return;
    const auto at = static_cast<size_t>(seen - track.row.begin());
    double begin = grid_[at];
    for (const Track& other : tracks_) {
      if (other.life == track.life) begin = std::min(begin, other.clock.front());
    }
    for (size_t g = at; g > 0 && grid_[g - 1] >= std::max(begin, grid_[at] - reach); --g) {
      track.row[g - 1] = *seen;
    }
  }

  // One time for each step: the farthest that a rank had come by its own count.
  void fill_instants() {
    double passed_s = 0;
    const Track& lead = tracks_.front();
    job_.epoch_time = lead.run->epoch_time;
    const double start_s = job_.epoch_time ? lead.start_s() : 0;
    job_.instants.reserve(grid_.size());
    for (size_t g = 0; g < grid_.size(); ++g) {
      Instant at;
      at.step = by_steps_ ? static_cast<int64_t>(grid_[g]) : -1;
      for (const Track& track : tracks_) {
        if (track.row[g] == kAbsent) continue;
        passed_s = std::max(passed_s, track.elapsed_s(track.row[g]));
        if (!std::isfinite(at.epoch)) at.epoch = track.run->instants[track.row[g]].epoch;
      }
      at.time_s = start_s + (by_steps_ ? passed_s : grid_[g]);
      job_.instants.push_back(at);
    }
  }

  void add_processes(const Track& track) {
    const Run& run = *track.run;
    const size_t first = job_.processes.size();
    std::map<int64_t, int64_t> new_id;
    for (size_t i = 0; i < run.processes.size(); ++i) {
      new_id[run.processes[i].id] = static_cast<int64_t>(first + i);
    }
    for (size_t i = 0; i < run.processes.size(); ++i) {
      Process process = run.processes[i];
      process.id = static_cast<int64_t>(first + i);
      process.id_is_pid = false;
      process.rank = track.rank_of[i];
      process.node = static_cast<int64_t>(track.node);
      const auto parent = new_id.find(process.parent);
      process.parent = parent == new_id.end() ? -1 : parent->second;
      const std::string who =
          process.rank >= 0 ? fmt::format("rank {}", process.rank) : job_.nodes[track.node].name;
      process.name = process.name.empty() ? who : fmt::format("{}: {}", who, process.name);
      job_.processes.push_back(std::move(process));
    }
    for (const Series& series : run.series) {
      if (!is_needed(run, series.metric)) continue;
      Series aligned{first + series.process, series.metric, series.label, {}};
      aligned.mb.reserve(grid_.size());
      for (const size_t row : track.row) {
        aligned.mb.push_back(row == kAbsent ? kMissing : series.mb[row]);
      }
      job_.series.push_back(std::move(aligned));
    }
  }

  [[nodiscard]] size_t instant_at(double clock) const {
    const auto at = std::ranges::lower_bound(grid_, clock);
    return at == grid_.end() ? grid_.size() - 1 : static_cast<size_t>(at - grid_.begin());
  }

  // What all ranks say at one step is said once.
  void add_events() {
    std::set<std::tuple<size_t, EventKind, std::string>> all;
    for (const Track& track : tracks_) {
      if (track.life > 0) {
        all.emplace(instant_at(track.clock.front()), EventKind::restart, "started anew");
      }
      for (const Event& event : track.run->events) {
        const bool of_all = event.kind == EventKind::eval || event.kind == EventKind::checkpoint ||
                            event.kind == EventKind::epoch;
        const std::string text = of_all || track.rank < 0
                                     ? event.text
                                     : fmt::format("rank {}: {}", track.rank, event.text);
        all.emplace(instant_at(track.clock[event.instant]), event.kind, text);
      }
    }
    for (const auto& [instant, kind, text] : all) job_.events.push_back({instant, kind, text});
  }

  void describe() {
    const Track& lead = tracks_.front();
    job_.context = lead.run->context;
    job_.context.rank.reset();
    job_.context.attempt.reset();
    job_.context.node.reset();
    job_.context.limit_mb.reset();  // Each node has its own.
    std::set<int64_t> ranks;
    for (const Process& process : job_.processes) {
      if (process.rank >= 0) ranks.insert(process.rank);
    }
    for (const Track& track : tracks_) {
      const std::optional<Fact>& world = track.run->context.world;
      if (!world || (job_.context.world && job_.context.world->value >= world->value)) continue;
      job_.context.world = world;
    }
    job_.command = lead.run->command;
    job_.format = "recordings of one job";
    job_.source = fmt::format(
        "{} ({} rank{} in {} recording{})",
        lead.run->context.job ? "job " + lead.run->context.job->text : "a job", ranks.size(),
        ranks.size() == 1 ? "" : "s", tracks_.size(), tracks_.size() == 1 ? "" : "s");
    // It has ended when all have; how, the last life of its first rank tells.
    if (std::ranges::all_of(tracks_, [](const Track& track) { return is_over(*track.run); })) {
      for (const Track& track : tracks_) {
        if (track.rank == lead.rank) job_.ending = track.run->ending;
      }
    }
    for (const Track& track : tracks_) {
      for (const std::string& text : track.run->notes) {
        note(fmt::format("rank {}: {}", track.rank, text));
      }
    }
  }

  std::span<const Run> runs_;
  std::vector<Track> tracks_;
  std::map<std::string, size_t> node_place_;
  std::vector<double> grid_;
  bool by_steps_ = true;
  Run job_;
};

}  // namespace

bool is_one_job(std::span<const Run> runs) {
  if (runs.size() < 2) return false;
  std::set<int64_t> ranks;
  std::set<int64_t> attempts;
  for (const Run& run : runs) {
    const std::optional<Fact>& job = run.context.job;
    if (!job || job->text.empty() || job->text != runs.front().context.job->text) return false;
    attempts.insert(std::max<int64_t>(0, whole(run.context.attempt)));
    for (const int64_t rank : ranks_of(run)) {
      if (rank >= 0) ranks.insert(rank);
    }
  }
  // Where nobody told a rank but the user names the job, each file is a rank.
  const bool named = ranks.empty() && runs.front().context.job->source.starts_with("--");
  return ranks.size() > 1 || attempts.size() > 1 || named;
}

void number_ranks(std::span<Run> runs) {
  std::set<int64_t> taken;
  for (const Run& run : runs) {
    for (const int64_t rank : ranks_of(run)) taken.insert(rank);
  }
  int64_t free = 0;
  for (Run& run : runs) {
    const std::vector<int64_t> ranks = ranks_of(run);
    if (std::ranges::any_of(ranks, [](int64_t rank) { return rank >= 0; })) continue;
    while (taken.contains(free)) ++free;
    run.context.rank = Fact{static_cast<double>(free++), "its place among the files"};
  }
}

Result<Run> job_run(std::span<const Run> runs) {
  return Assembly(runs).put_together();
}

}  // namespace plateau
