// SPDX-License-Identifier: Apache-2.0
#include "fleet/plan.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace plateau::fleet {
namespace {

// A matcher of a thousand pods' names is a query of fifty kilobytes.
constexpr size_t kMostValues = 400;

bool may_split(std::string_view label, const Preset& preset) {
  if (!preset.identity.empty()) {
    return std::find(preset.identity.begin(), preset.identity.end(), label) !=
           preset.identity.end();
  }
  return label != "__name__" && !names_scraper(label);
}

// The label with the most values among those series, which every one of them has; "" if all that
// there are have one value.
std::string best_label(const std::vector<const RawSeries*>& all, const Preset& preset) {
  std::map<std::string, std::pair<std::set<std::string_view>, size_t>, std::less<>> values;
  for (const RawSeries* each : all) {
    for (const auto& [name, value] : each->labels.all()) {
      if (!may_split(name, preset)) continue;
      auto& [distinct, count] = values[name];
      distinct.insert(value);
      ++count;
    }
  }
  std::string best;
  size_t most = 1;
  for (const auto& [name, found] : values) {
    if (found.second == all.size() && found.first.size() > most) {
      best = name;
      most = found.first.size();
    }
  }
  return best;
}

void deal_into(const std::vector<const RawSeries*>& all, const Preset& preset, size_t most_series,
               const std::string& matchers, std::vector<Shard>& shards) {
  const std::string label = best_label(all, preset);
  if (label.empty()) {
    shards.push_back({.label = "", .values = {}, .counts = {all.size()}, .matchers = matchers});
    return;
  }
  std::map<std::string, std::vector<const RawSeries*>, std::less<>> by_value;
  for (const RawSeries* each : all) {
    by_value[std::string(each->labels.of(label))].push_back(each);
  }
  Shard shard{.label = label, .values = {}, .counts = {}, .matchers = matchers};
  const auto close = [&] {
    if (!shard.values.empty()) shards.push_back(shard);
    shard.values.clear();
    shard.counts.clear();
  };
  for (const auto& [value, series] : by_value) {
    if (series.size() > most_series) {
      std::string both = matchers;
      if (!both.empty()) both += ',';
      both += matcher_of(label, std::vector<std::string>{value});
      deal_into(series, preset, most_series, both, shards);
      continue;
    }
    if (shard.series() + series.size() > most_series || shard.values.size() >= kMostValues) close();
    shard.values.push_back(value);
    shard.counts.push_back(series.size());
  }
  close();
}

}  // namespace

size_t Shard::series() const {
  return std::accumulate(counts.begin(), counts.end(), size_t{0});
}

std::string Shard::text() const {
  if (label.empty()) return matchers;
  std::string both = matchers;
  if (!both.empty()) both += ',';
  return both.append(matcher_of(label, values));
}

std::vector<Shard> deal(const std::vector<RawSeries>& all, const Preset& preset,
                        size_t most_series) {
  std::vector<Shard> shards;
  if (all.empty()) return shards;
  std::vector<const RawSeries*> each;
  each.reserve(all.size());
  for (const RawSeries& series : all) each.push_back(&series);
  deal_into(each, preset, std::max<size_t>(most_series, 1), "", shards);
  return shards;
}

std::pair<Shard, Shard> halves(const Shard& shard) {
  std::pair<Shard, Shard> two = {shard, shard};
  const auto middle = static_cast<std::ptrdiff_t>(shard.values.size() / 2);
  two.first.values.erase(two.first.values.begin() + middle, two.first.values.end());
  two.first.counts.erase(two.first.counts.begin() + middle, two.first.counts.end());
  two.second.values.erase(two.second.values.begin(), two.second.values.begin() + middle);
  two.second.counts.erase(two.second.counts.begin(), two.second.counts.begin() + middle);
  return two;
}

}  // namespace plateau::fleet
