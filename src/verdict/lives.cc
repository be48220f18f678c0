// SPDX-License-Identifier: Apache-2.0
#include "verdict/lives.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>

#include "base/statistics.h"

namespace plateau {
namespace {

// What holds less than this share of the whole is not the job.
constexpr double kShareOfJob = 0.25;
// A copy of a process that goes on maps no more at its end than at its beginning, and about as much
// as that process does, which lets go of a little now and then.
constexpr double kOfCopy = 1.01;
constexpr double kAsMuch = 1.05;
// A life of one pass over the data, give or take: epochs are known to a few per cent, and a pool is
// closed a little before its epoch ends.
constexpr double kOfEpoch = 0.15;
// A life this close to the longest is as telling; then the later one is taken.
constexpr double kAboutAsLong = 0.9;
// Instants for which a new pool and the one that it replaces may both be there.
constexpr size_t kMostOverlap = 5;
// A process that falls below this share at its last samples is exiting.
constexpr double kExiting = 0.9;

// The stretch of instants in which a process was seen: [first, end).
struct Presence {
  size_t first = 0;
  size_t end = 0;
  bool replaced = false;  // Another one took its place, or it took another's.
};

class Follower {
 public:
  Follower(const ProcessSums& processes, const std::vector<double>& tree, const LifeClock& clock,
           size_t count)
      : processes_(processes),
        tree_(tree),
        clock_(clock),
        count_(count),
        born_(count + 1),
        died_(count + 1) {
    presence_.resize(processes.owned.size());
    for (size_t p = 0; p < presence_.size(); ++p) {
      Presence& presence = presence_[p];
      for (size_t i = 0; i < count; ++i) {
        if (!std::isfinite(processes.owned[p][i])) continue;
        if (presence.end == 0) presence.first = i;
        presence.end = i + 1;
      }
      if (presence.end == 0) continue;
      born_[presence.first].push_back(p);
      died_[presence.end].push_back(p);
    }
  }

  std::vector<Life> find_lives() {
    std::vector<Life> lives = {{.from = 0, .to = count_}};
    bool over = false;  // All ended; whoever is started next begins a new life.
    for (size_t i = 1; i < count_; ++i) {
      if (!over && job_ends(i)) {
        over = true;
        lives.back().to = i;
      }
      if (over && !born_[i].empty()) {
        over = false;
        lives.push_back({.from = i, .to = count_});
      }
    }
    if (over) lives.back().to = count_;  // Nothing followed: a part ended.
    return lives;
  }

  // Fills one life of the series, and finds who ended in it for good.
  void fill(const Life& life, Lives& result) {
    const std::vector<size_t> gone = match_places(life);
    std::vector<size_t> replaceable;
    for (size_t p = 0; p < presence_.size(); ++p) {
      if (presence_[p].replaced) replaceable.push_back(p);
    }
    const std::vector<double> pool = sum_of(replaceable, false);
    const std::vector<double> going = sum_of(gone, false);
    const std::vector<double> kept = sum_of(gone, true);
    const std::optional<size_t> alone = alone_surviving(gone, life);
    std::vector<double> surviving(tree_.size(), kMissing);
    double largest_pool = 0;
    for (size_t i = life.from; i < life.to; ++i) {
      largest_pool = std::max(largest_pool, pool[i]);
      double core = tree_[i] - pool[i] - going[i];
      if (alone) core = processes_.mapped[*alone][i];
      surviving[i] = core + largest_pool;
      result.held[i] = surviving[i] + kept[i];
    }
    result.replaced.resize(presence_.size());
    for (const size_t p : replaceable) result.replaced[p] = true;
    if (!gone.empty()) result.surviving = std::move(surviving);
    for (const size_t p : gone) add_ended(p, result.ended);
  }

 private:
  [[nodiscard]] double to_itself(size_t p, size_t i) const {
    const double mb = processes_.to_itself[p][i];
    return std::isfinite(mb) ? mb : 0;
  }

  // The last instant at which a process still held what it had: a process that ends gives it back
  // first, all at once or object by object.
  [[nodiscard]] size_t before_its_end(size_t p) const {
    const Presence& presence = presence_[p];
    size_t at = presence.end - 1;
    const size_t first = std::max(presence.first + kMostExiting, presence.end) - kMostExiting;
    while (at > first && to_itself(p, at) < to_itself(p, at - 1)) --at;
    const bool exits = to_itself(p, presence.end - 1) < kExiting * to_itself(p, at);
    return exits ? at : presence.end - 1;
  }

  // The one process that neither ended nor was replaced, if it was there all the time, all it maps
  // is known, and others came or went.
  [[nodiscard]] std::optional<size_t> alone_surviving(const std::vector<size_t>& gone,
                                                      const Life& life) const {
    std::optional<size_t> found;
    size_t others = 0;
    for (size_t p = 0; p < presence_.size(); ++p) {
      if (presence_[p].end <= life.from || presence_[p].first >= life.to) continue;
      if (presence_[p].replaced || std::find(gone.begin(), gone.end(), p) != gone.end()) {
        ++others;
        continue;
      }
      if (found) return std::nullopt;
      found = p;
    }
    if (!found || others == 0) return std::nullopt;
    for (size_t i = life.from; i < life.to; ++i) {
      if (!std::isfinite(processes_.mapped[*found][i])) return std::nullopt;
    }
    return found;
  }

  // What some processes hold to themselves, by instant; where `on`, with their last after their
  // end.
  [[nodiscard]] std::vector<double> sum_of(const std::vector<size_t>& of, bool on) const {
    std::vector<double> sum(tree_.size(), 0);
    for (const size_t p : of) {
      const Presence& presence = presence_[p];
      const size_t last = on ? before_its_end(p) : presence.end - 1;
      for (size_t i = presence.first; i <= last; ++i) sum[i] += to_itself(p, i);
      for (size_t i = last + 1; on && i < sum.size(); ++i) sum[i] += to_itself(p, last);
    }
    return sum;
  }

  [[nodiscard]] bool job_ends(size_t i) const {
    if (died_[i].empty() || only_pool_workers_end(i)) return false;
    const double largest = largest_surviving(i);
    if (std::max(left_at(i), largest) < kShareOfJob * tree_[i - 1]) return true;
    if (died_[i].size() != 1) return false;
    const size_t p = died_[i][0];
    if (to_itself(p, i - 1) < kShareOfJob * tree_[i - 1]) return false;
    if (is_copy(p, largest)) return false;
    const double lived = clock_.at[i - 1] - clock_.at[presence_[p].first];
    if (std::fabs(lived - clock_.epoch) <= kOfEpoch * clock_.epoch) return false;
    // A pool is followed by a pool.
    const auto next = std::find_if(born_.begin() + static_cast<std::ptrdiff_t>(i), born_.end(),
                                   [](const std::vector<size_t>& born) { return !born.empty(); });
    return next != born_.end() && next->size() == 1;
  }

  // Workers of a pool end, and a process goes on that is none.
  [[nodiscard]] bool only_pool_workers_end(size_t i) const {
    const auto pooled = [this](size_t p) { return is_pooled(p); };
    if (!std::all_of(died_[i].begin(), died_[i].end(), pooled)) return false;
    for (size_t p = 0; p < presence_.size(); ++p) {
      if (!processes_.worker[p] && presence_[p].first < i && presence_[p].end > i) return true;
    }
    return false;
  }

  // A data worker that had another beside it for at least half of its life: a single one that is
  // forked again and again may be the job.
  [[nodiscard]] bool is_pooled(size_t p) const {
    if (!processes_.worker[p]) return false;
    const Presence& own = presence_[p];
    for (size_t q = 0; q < presence_.size(); ++q) {
      const Presence& other = presence_[q];
      if (q == p || !processes_.worker[q]) continue;
      const size_t from = std::max(own.first, other.first), to = std::min(own.end, other.end);
      if (to > from && 2 * (to - from) >= own.end - own.first) return true;
    }
    return false;
  }

  // The most that one process maps which was there before an instant and goes on; 0 if that is not
  // known. A parent owns a fraction of its pages while workers share them, and is the job all the
  // same.
  [[nodiscard]] double largest_surviving(size_t i) const {
    double largest = 0;
    for (size_t p = 0; p < presence_.size(); ++p) {
      if (presence_[p].first >= i || presence_[p].end <= i) continue;
      const double mb = processes_.mapped[p][i - 1];
      if (std::isfinite(mb)) largest = std::max(largest, mb);
    }
    return largest;
  }

  // A snapshot that was forked to be written or evaluated: it adds nothing of its own to what it
  // was forked with, though it comes to own all of it page by page.
  [[nodiscard]] bool is_copy(size_t p, double largest_surviving) const {
    const std::vector<double>& mapped = processes_.mapped[p];
    const double first = mapped[presence_[p].first], last = mapped[presence_[p].end - 1];
    return last <= kOfCopy * first && last <= kAsMuch * largest_surviving;
  }

  // What is left at an instant of what was there before it.
  [[nodiscard]] double left_at(size_t i) const {
    double mb = std::isfinite(tree_[i]) ? tree_[i] : 0;
    for (const size_t p : born_[i]) mb -= processes_.owned[p][i];
    return mb;
  }

  // Whoever is started takes the place of the one of its kind that ended first. A pool may also be
  // opened just before the last one is closed: who was started within the last few instants takes
  // the place of one that had been there for long. Returns those whose place nobody took, among the
  // ones that nobody had before them.
  std::vector<size_t> match_places(const Life& life) {
    std::deque<size_t> vacant, early;
    for (size_t i = life.from + 1; i < life.to; ++i) {
      std::erase_if(early, [&](size_t p) { return presence_[p].first + kMostOverlap < i; });
      for (const size_t p : died_[i]) {
        const bool lived_long = presence_[p].first + 4 * kMostOverlap <= i;
        if (!lived_long || !take_place(early, p)) vacant.push_back(p);
      }
      for (const size_t p : born_[i]) {
        if (!take_place(vacant, p)) early.push_back(p);
      }
    }
    std::vector<size_t> gone;
    for (const size_t p : vacant) {
      if (!presence_[p].replaced) gone.push_back(p);
    }
    return gone;
  }

  // `p` and the first of its kind in `waiting` have the same place, one after the other.
  bool take_place(std::deque<size_t>& waiting, size_t p) {
    const auto other = std::find_if(waiting.begin(), waiting.end(), [&](size_t q) {
      return processes_.kind[q] == processes_.kind[p];
    });
    if (other == waiting.end()) return false;
    presence_[*other].replaced = true;
    presence_[p].replaced = true;
    waiting.erase(other);
    return true;
  }

  void add_ended(size_t p, std::vector<EndedPart>& parts) const {
    const size_t instant = presence_[p].end;
    if (parts.empty() || parts.back().instant != instant) {
      parts.push_back({.instant = instant, .processes = {}});
    }
    parts.back().processes.push_back(p);
    parts.back().mb += to_itself(p, before_its_end(p));
  }

  const ProcessSums& processes_;
  const std::vector<double>& tree_;
  const LifeClock& clock_;
  size_t count_;
  std::vector<Presence> presence_;
  std::vector<std::vector<size_t>> born_;  // By instant.
  std::vector<std::vector<size_t>> died_;
};

double length_of(const Life& life, const std::vector<double>& clock) {
  return clock[life.to - 1] - clock[life.from];
}

double longest(const std::vector<Life>& lives, const std::vector<double>& clock) {
  double length = 0;
  for (const Life& life : lives) length = std::max(length, length_of(life, clock));
  return length;
}

size_t most_telling(const std::vector<Life>& lives, const std::vector<double>& clock) {
  const double length = longest(lives, clock);
  size_t chosen = 0;
  for (size_t i = 0; i < lives.size(); ++i) {
    if (length_of(lives[i], clock) >= kAboutAsLong * length) chosen = i;
  }
  return chosen;
}

// Do the lives belong to helpers of a job that goes on?
bool are_helpers(const std::vector<Life>& lives, const LifeClock& clock) {
  if (clock.helper <= 0 || lives.size() < kLivesOfHelpers) return false;
  std::vector<double> lengths;
  lengths.reserve(lives.size());
  for (const Life& life : lives) lengths.push_back(length_of(life, clock.at));
  return upper_median(lengths) <= clock.helper;
}

}  // namespace

bool is_telling(const Lives& lives, size_t life, const std::vector<double>& clock) {
  return 2 * length_of(lives.lives[life], clock) >= longest(lives.lives, clock);
}

Lives follow_lives(const ProcessSums& processes, const std::vector<double>& tree,
                   const LifeClock& clock, size_t count, std::optional<size_t> asked) {
  Lives result;
  result.held = tree;
  result.lives = {{.from = 0, .to = count}};
  if (processes.to_itself.size() < 2 || count < 2) return result;
  Follower follower(processes, tree, clock, count);
  std::vector<Life> lives = follower.find_lives();
  if (!are_helpers(lives, clock)) result.lives = std::move(lives);
  result.judged = asked.value_or(most_telling(result.lives, clock.at));
  follower.fill(result.lives[result.judged], result);
  return result;
}

}  // namespace plateau
