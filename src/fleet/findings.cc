// SPDX-License-Identifier: Apache-2.0
#include "fleet/findings.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/statistics.h"
#include "fleet/discoveries.h"
#include "fleet/evidence.h"

namespace plateau::fleet {
namespace {

constexpr size_t kExamples = 3;
// Of so many members one that grows alone is an odd one.
constexpr size_t kFewestForOdd = 4;
// A workload this likely to leak is worth a word, although it is not in the list.
constexpr double kWorthAWord = 0.5;
// Half of the harm is gone when there are so many hours left.
constexpr double kSoonHours = 6;
// Without a limit nothing can be out of memory; it is ranked as if that were as far away.
constexpr double kFarHours = 24 * 30;

using Key = std::tuple<std::string, std::string, std::string, std::string>;  // Without version.

struct Group {
  Finding finding;
  std::vector<const SeriesVerdict*> members;
  double first_s = 0;  // When the first of them was first seen.
  Peers peers;
  Suspicion suspicion;
};

// Looks like a leak without being called one, itself or for want of the load.
bool is_doubtful(const SeriesVerdict& member) {
  return is_killed(member) ||
         (member.word == Word::undecided && (member.held_back || member.log_factor > 0));
}

std::vector<const SeriesVerdict*> affected_of(const Group& group) {
  std::vector<const SeriesVerdict*> affected;
  for (const SeriesVerdict* member : group.members) {
    if (grows(*member, group.peers)) affected.push_back(member);
  }
  const bool leak = !affected.empty();
  for (const SeriesVerdict* member : group.members) {
    // Beside one that leaks, a doubtful one of the same code does too.
    if (!grows(*member, group.peers) && is_doubtful(*member) &&
        (!leak || rate_mb_per_s_of(*member) > 0)) {
      affected.push_back(member);
    }
  }
  std::stable_sort(affected.begin(), affected.end(),
                   [](const SeriesVerdict* a, const SeriesVerdict* b) {
                     return rate_mb_per_s_of(*a) > rate_mb_per_s_of(*b);
                   });
  return affected;
}

void weigh(Group& group, double log_climb) {
  group.peers = {.others_live = others_live(group.members), .log_climb = log_climb};
  std::vector<double> factors;
  const SeriesVerdict* surest = group.members.front();
  for (const SeriesVerdict* member : group.members) {
    factors.push_back(log_factor_of(*member, group.peers));
    if (factors.back() > log_factor_of(*surest, group.peers)) surest = member;
    group.suspicion.accused = group.suspicion.accused || grows(*member, group.peers);
  }
  group.suspicion.log_factor = log_mean_factor(factors);
  group.suspicion.still_filling = still_filling_of(*surest, group.peers);
}

void describe(Group& group) {
  Finding& finding = group.finding;
  const std::vector<const SeriesVerdict*> affected = affected_of(group);
  finding.members = group.members.size();
  finding.affected = affected.size();
  if (affected.empty()) return;
  std::vector<double> rates, levels;
  for (const SeriesVerdict* member : affected) {
    rates.push_back(rate_mb_per_s_of(*member) * 3600);
    levels.push_back(member->last_mb);
    finding.restarts += member->lives - 1;
    if (is_killed(*member)) finding.deaths += member->deaths.count;
    finding.held_back = finding.held_back || member->held_back;
    if (finding.examples.size() < kExamples) finding.examples.push_back(member->name.member);
    const std::optional<double> left_s = limit_in_s_of(*member);
    if (left_s && (!finding.limit_in_s || *left_s < *finding.limit_in_s)) {
      finding.limit_in_s = left_s;
    }
  }
  finding.growth_mb_per_hour = upper_median(rates);
  finding.last_mb = upper_median(levels);
  finding.others_live = group.peers.others_live;
  finding.odd_one = affected.size() == 1 && finding.members >= kFewestForOdd;
  finding.spark = affected.front()->spark;
  finding.closeup = affected.front()->closeup;
  finding.load = affected.front()->load;
}

std::map<Key, std::vector<Group>> groups_of(const std::vector<SeriesVerdict>& series) {
  std::map<Key, std::map<std::string, Group>> by_version;
  for (const SeriesVerdict& each : series) {
    const SeriesName& name = each.name;
    Group& group =
        by_version[{name.cluster, name.space, name.workload, name.container}][name.version];
    if (group.members.empty()) {
      Finding& finding = group.finding;
      std::tie(finding.cluster, finding.space, finding.workload, finding.container) =
          std::tie(name.cluster, name.space, name.workload, name.container);
      finding.version = name.version;
      group.first_s = each.first_s;
    }
    group.first_s = std::min(group.first_s, each.first_s);
    group.members.push_back(&each);
  }
  std::map<Key, std::vector<Group>> groups;
  for (auto& [key, versions] : by_version) {
    for (auto& [version, group] : versions) groups[key].push_back(std::move(group));
    std::stable_sort(groups[key].begin(), groups[key].end(),
                     [](const Group& a, const Group& b) { return a.first_s < b.first_s; });
  }
  return groups;
}

// The version that brought it: it leaks, and an earlier one of the same workload does not, in the
// window or the day before.
void name_rollout(std::vector<Group>& versions) {
  for (size_t i = 0; i < versions.size(); ++i) {
    Finding& finding = versions[i].finding;
    if (finding.word != Word::leak || finding.version.empty()) continue;
    const bool new_today = std::all_of(
        versions[i].members.begin(), versions[i].members.end(),
        [&](const SeriesVerdict* m) { return !grows(*m, versions[i].peers) || m->new_version; });
    const bool after_a_calm_one = i > 0 && versions[i - 1].finding.affected == 0 &&
                                  versions[i].first_s > versions[i - 1].first_s;
    if (!new_today && !after_a_calm_one) continue;
    finding.since = finding.version;
    finding.since_s = versions[i].first_s;
  }
}

void choose_words(std::vector<Group*>& all, FleetAnswer& answer) {
  std::vector<Suspicion> suspicions;
  suspicions.reserve(all.size());
  for (const Group* group : all) suspicions.push_back(group->suspicion);
  const Discoveries found = discover(suspicions, answer.most_false);
  answer.null_share = found.null_share;
  answer.cautious_null_share = found.cautious_null_share;
  answer.expected_false_share = found.expected_false_share;
  for (size_t i = 0; i < all.size(); ++i) {
    all[i]->finding.leak_probability = found.leak_probability[i];
    all[i]->finding.bounded = found.bounded[i];
    all[i]->finding.log_factor = all[i]->suspicion.log_factor;
    all[i]->finding.word = Word::plateau;
    if (all[i]->finding.affected > 0 &&
        (all[i]->suspicion.accused || all[i]->finding.held_back || all[i]->finding.deaths > 0 ||
         found.leak_probability[i] >= kWorthAWord)) {
      all[i]->finding.word = Word::undecided;
    }
  }
  for (const size_t i : found.listed) all[i]->finding.word = Word::leak;
}

}  // namespace

size_t FleetAnswer::leaks() const {
  return static_cast<size_t>(std::count_if(findings.begin(), findings.end(),
                                           [](const Finding& f) { return f.word == Word::leak; }));
}

double harm_of(const Finding& finding) {
  const double hours = finding.limit_in_s ? *finding.limit_in_s / 3600 : kFarHours;
  return finding.leak_probability * static_cast<double>(finding.affected) * kSoonHours /
         (kSoonHours + std::min(hours, kFarHours));
}

void find(const std::vector<SeriesVerdict>& series, FleetAnswer& answer) {
  std::map<Key, std::vector<Group>> groups = groups_of(series);
  const double log_climb = log_factor_of_climb(series);
  std::vector<Group*> all;
  for (auto& [key, versions] : groups) {
    for (Group& group : versions) {
      weigh(group, log_climb);
      describe(group);
      all.push_back(&group);
    }
  }
  choose_words(all, answer);
  answer.workloads = all.size();
  for (auto& [key, versions] : groups) {
    name_rollout(versions);
    for (Group& group : versions) {
      if (group.finding.word != Word::plateau) answer.findings.push_back(std::move(group.finding));
    }
  }
  std::stable_sort(answer.findings.begin(), answer.findings.end(),
                   [](const Finding& a, const Finding& b) {
                     if (a.word != b.word) return a.word == Word::leak;
                     return harm_of(a) > harm_of(b);
                   });
}

}  // namespace plateau::fleet
