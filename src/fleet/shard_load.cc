// SPDX-License-Identifier: Apache-2.0
#include "fleet/shard_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "fleet/shard_pull.h"

namespace plateau::fleet {
namespace {

constexpr double kDayS = 86400;
constexpr size_t kPoints = 96;    // Of a coarse curve.
constexpr double kShortestS = 5;  // Between two of its points.
// Work is a rate over this much of the window, within bounds: two scrapes at least, and not so long
// that a short window is all beginning.
constexpr double kRangesInWindow = 24;
constexpr double kShortestRangeS = 30;
constexpr double kLongestRangeS = 300;
constexpr size_t kMostWorkloads = 50;  // Asked for one by one.

using Curves = std::map<std::string, std::vector<Sample>>;

class LoadFinder {
 public:
  LoadFinder(Database& database, const Question& question, const Shard& shard,
             std::vector<Suspect>& suspects, std::vector<std::string>& troubles)
      : database_(database),
        question_(question),
        shard_(shard),
        suspects_(suspects),
        troubles_(troubles) {}

  void run() {
    look_back(1, LoadSource::day_before);
    look_at_workloads();
    look_back(7, LoadSource::week_before);
    look_at_work();
  }

 private:
  // Those of whom nothing is known yet, as matchers; "" if there are none.
  [[nodiscard]] std::string left() const {
    std::set<std::string> values;
    bool any = false;
    for (const Suspect& suspect : suspects_) {
      if (suspect.load) continue;
      any = true;
      values.insert(suspect.shard_value);
    }
    if (!any) return "";
    Shard some = shard_;
    some.values.assign(values.begin(), values.end());
    some.counts.assign(values.size(), 1);
    const std::string text = some.text();
    return text.empty() ? "__name__!=\"\"" : text;
  }

  [[nodiscard]] double step_s() const {
    return std::max(question_.window_s / static_cast<double>(kPoints), kShortestS);
  }

  // Curves by identity, moved to today.
  Curves curves_of(const std::string& expression, double days) {
    const double back = days * kDayS;
    Reply reply = database_.query_range(expression, question_.begin_s() - back,
                                        question_.end_s - back, step_s());
    if (!reply.ok()) troubles_.push_back(reply.message);
    Curves curves;
    for (RawSeries& each : reply.answer.series) {
      for (Sample& sample : each.samples) sample.at_s += back;
      std::vector<Sample>& held = curves[identity_of(each.labels, question_.preset.identity)];
      if (each.samples.size() > held.size()) held = std::move(each.samples);
    }
    return curves;
  }

  [[nodiscard]] bool same_life(const Suspect& suspect, double days) const {
    if (suspect.judged.series.lives() > 1) return false;
    if (!suspect.started_s) return true;
    return *suspect.started_s <= question_.begin_s() - days * kDayS;
  }

  void to_mb(const Suspect& suspect, std::vector<Sample>& samples) const {
    for (Sample& sample : samples) {
      sample.value *= question_.preset.unit_mb;
      if (question_.preset.counts_free && suspect.judged.limit_mb) {
        sample.value = *suspect.judged.limit_mb - sample.value;
      }
    }
  }

  static void use(const EarlierDay& earlier, LoadSource source, Suspect& suspect) {
    const auto wave = wave_of(earlier, suspect.judged.series.samples);
    if (wave) suspect.load = KnownLoad{.source = source, .wave = *wave, .work = {}};
  }

  void look_back(double days, LoadSource source) {
    const std::string some = left();
    if (some.empty()) return;
    const std::vector<std::string_view> matchers = {question_.preset.matchers, question_.matchers,
                                                    some};
    Curves curves = curves_of(selector_text(question_.metric, matchers), days);
    for (Suspect& suspect : suspects_) {
      const auto found = curves.find(suspect.identity);
      if (suspect.load || found == curves.end()) continue;
      EarlierDay earlier{found->second, days, same_life(suspect, days)};
      to_mb(suspect, earlier.samples);
      use(earlier, source, suspect);
    }
  }

  // Pods that are younger than a day: what others of their workload held a day before.
  void look_at_workloads() {
    std::map<std::pair<std::string, std::string>, std::vector<Suspect*>> by_workload;
    for (Suspect& suspect : suspects_) {
      if (suspect.load || suspect.labels.of("pod").empty()) continue;
      const std::string pods = owner_of_pod(suspect.labels.of("pod"));
      by_workload[{suspect.judged.name.space, pods}].push_back(&suspect);
    }
    size_t asked = 0;
    for (auto& [workload, members] : by_workload) {
      if (++asked > kMostWorkloads) return;
      const std::vector<std::string> name = {workload.second};
      std::string pods = matcher_of("pod", name);
      pods.insert(pods.size() - 1, "-.+");
      const std::vector<std::string> space = {workload.first};
      const std::string spaces = matcher_of("namespace", space);
      const std::vector<std::string_view> matchers = {question_.preset.matchers, question_.matchers,
                                                      spaces, pods};
      const std::string mean =
          fmt::format("avg by(container,image)({})", selector_text(question_.metric, matchers));
      const Reply reply = database_.query_range(mean, question_.begin_s() - kDayS,
                                                question_.end_s - kDayS, step_s());
      if (!reply.ok()) troubles_.push_back(reply.message);
      for (Suspect* suspect : members) use_workload(reply.answer.series, *suspect);
    }
  }

  void use_workload(const std::vector<RawSeries>& curves, Suspect& suspect) const {
    const RawSeries* best = nullptr;
    bool same_version = false;
    for (const RawSeries& curve : curves) {
      if (curve.labels.of("container") != suspect.judged.name.container) continue;
      same_version = same_version || version_of(curve.labels) == suspect.judged.name.version;
      if (best == nullptr || curve.samples.size() > best->samples.size()) best = &curve;
    }
    if (best == nullptr) return;
    EarlierDay earlier{best->samples, 1, false};
    for (Sample& sample : earlier.samples) sample.at_s += kDayS;
    to_mb(suspect, earlier.samples);
    use(earlier, LoadSource::day_before, suspect);
    if (suspect.load) suspect.load->new_version = !same_version;
  }

  void look_at_work() {
    const std::string some = left();
    if (some.empty() || question_.preset.load.empty()) return;
    const double range_s =
        std::clamp(question_.window_s / kRangesInWindow, kShortestRangeS, kLongestRangeS);
    const std::string range = fmt::format("{:.0f}s", range_s);
    Curves curves = curves_of(expression_for(question_.preset.load, some, range), 0);
    for (Suspect& suspect : suspects_) {
      const auto found = curves.find(suspect.identity);
      if (suspect.load || found == curves.end()) continue;
      // Until a counter has been there for as long as its rate looks back, the rate rises by
      // itself, and would explain a leak.
      std::vector<Sample>& work = found->second;
      const double begins_s = suspect.judged.series.samples.front().at_s + range_s;
      std::erase_if(work, [&](const Sample& sample) { return sample.at_s < begins_s; });
      if (work.size() < kPoints / 4) continue;
      suspect.load = KnownLoad{.source = LoadSource::work, .wave = {}, .work = work};
    }
  }

  Database& database_;
  const Question& question_;
  const Shard& shard_;
  std::vector<Suspect>& suspects_;
  std::vector<std::string>& troubles_;
};

}  // namespace

void find_loads(Database& database, const Question& question, const Shard& shard,
                std::vector<Suspect>& suspects, std::vector<std::string>& troubles) {
  LoadFinder(database, question, shard, suspects, troubles).run();
}

}  // namespace plateau::fleet
