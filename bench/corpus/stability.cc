// SPDX-License-Identifier: Apache-2.0
#include "stability.h"

#include <fmt/format.h>

#include <set>
#include <string>
#include <vector>

#include "score.h"
#include "verdict/shapes.h"

namespace plateau::bench {
namespace {

struct Setting {
  std::string name;
  Policy policy;
  std::vector<TraceScore> scores;
};

Setting make_setting(std::string name, const Policy& policy, const std::vector<Trace>& traces) {
  Setting setting{.name = std::move(name), .policy = policy, .scores = {}};
  setting.scores = judge_all(traces, [&policy](const Run& run) { return judge(run, policy).word; });
  return setting;
}

std::vector<Setting> all_settings(const std::vector<Trace>& traces) {
  std::vector<Setting> settings;
  settings.push_back(make_setting("as shipped", {}, traces));
  for (const size_t floors : {24, 32}) {
    Policy policy;
    policy.tuning.floors = floors;
    settings.push_back(make_setting(fmt::format("{} floors", floors), policy, traces));
  }
  for (const double epochs : {1.0, 1.5}) {
    Policy policy;
    policy.warmup_epochs = epochs;
    settings.push_back(make_setting(fmt::format("deadline {} epochs", epochs), policy, traces));
  }
  for (size_t family = 0; family < kFamilies.size(); ++family) {
    for (const double scale : {0.5, 2.0}) {
      Policy policy;
      policy.tuning.scaled_family = static_cast<int>(family);
      policy.tuning.scale = scale;
      settings.push_back(
          make_setting(fmt::format("{} x {}", kFamilies[family].name, scale), policy, traces));
    }
  }
  return settings;
}

// Right at the end: leaks found, plateaus not called leak; an alarm on the way counts as wrong.
bool right(const TraceScore& score) {
  if (score.trace->leak) {
    return score.at_end() == Word::leak || score.trace->added_mb < kCountsFromMb;
  }
  return !score.alarmed();
}

size_t count_right(const Setting& setting, const std::string& kind, bool of_kind) {
  size_t count = 0;
  for (const TraceScore& score : setting.scores) {
    if ((score.trace->kind == kind) == of_kind) count += right(score);
  }
  return count;
}

// The figures of every setting that differ from those as shipped; the others are counted.
void print_sensitivity(const std::vector<Setting>& settings) {
  fmt::print(
      "| setting | precision | recall | false alarms | median detection | end verdicts that "
      "change |\n|---|---|---|---|---|---|\n");
  std::string shipped;
  size_t alike = 0;
  for (const Setting& setting : settings) {
    const Score score = add_up(setting.scores);
    size_t changed = 0;
    for (size_t i = 0; i < setting.scores.size(); ++i) {
      const bool leak = setting.scores[i].at_end() == Word::leak;
      changed += leak != (settings.front().scores[i].at_end() == Word::leak);
    }
    const std::string figures =
        fmt::format("{:.2f} | {:.2f} | {} | {:.1f} | {}", score.precision(), score.recall(),
                    score.alarmed, score.median_detection, changed);
    if (shipped.empty()) {
      shipped = figures;
    } else if (figures == shipped) {
      ++alike;
      continue;
    }
    fmt::print("| {} | {} |\n", setting.name, figures);
  }
  fmt::print("\nThe other {} settings: as shipped.\n", alike);
}

int print_left_out(const std::vector<Setting>& settings) {
  std::set<std::string> kinds;
  for (const TraceScore& score : settings.front().scores) kinds.insert(score.trace->kind);
  fmt::print(
      "\n| kind left out | chosen on the others | right as shipped | right when left out "
      "|\n|---|---|---|---|\n");
  int status = 0;
  size_t alike = 0;
  for (const std::string& kind : kinds) {
    // The first of equals is kept, so that the shipped setting wins ties.
    const Setting* best = &settings.front();
    for (const Setting& setting : settings) {
      if (count_right(setting, kind, false) > count_right(*best, kind, false)) best = &setting;
    }
    const size_t shipped = count_right(settings.front(), kind, true);
    const size_t left_out = count_right(*best, kind, true);
    if (left_out + 1 < shipped) status = 1;
    if (left_out == shipped) {
      ++alike;
    } else {
      fmt::print("| {} | {} | {} | {} |\n", kind, best->name, shipped, left_out);
    }
  }
  fmt::print("\nThe other {} kinds: as many right either way.\n", alike);
  return status;
}

}  // namespace

int print_stability(const std::vector<Trace>& traces) {
  const std::vector<Setting> settings = all_settings(traces);
  print_sensitivity(settings);
  return print_left_out(settings);
}

}  // namespace plateau::bench
