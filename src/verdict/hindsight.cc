// SPDX-License-Identifier: Apache-2.0
#include "verdict/hindsight.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "recording/run_frame.h"
#include "verdict/judge_parts.h"
#include "verdict/signal.h"

namespace plateau {
namespace {

// Fewer instants than this never decide; replay() starts here too.
constexpr size_t kFirstLook = 3;

// Judges prefixes of one run. What the prefixes share is made once, and what no verdict reads is
// never copied.
class PrefixJudge {
 public:
  PrefixJudge(const Run& run, const Policy& policy) : run_(run), policy_(policy), columns_(run) {}

  // Adds the verdicts on the first `counts` instants. Each call copies the run once and cuts it
  // shorter from one prefix to the next.
  void look(std::vector<size_t> counts, PrefixVerdicts& verdicts) const {
    std::erase_if(counts, [&verdicts](size_t count) { return verdicts.contains(count); });
    std::sort(counts.begin(), counts.end(), std::greater<>());
    if (counts.empty()) return;
    Run prefix = what_is_read(counts.front());
    for (const size_t count : counts) {
      cut_to(prefix, count);
      Verdict verdict = judge_signals(prefix, telling_signals(columns_, prefix, policy_), policy_);
      verdict.plot.clear();
      verdict.marks.clear();
      verdicts.emplace(count, std::move(verdict));
    }
  }

 private:
  // prefix_of(run, count) without what a verdict does not read once the signals are made: heaps,
  // and all series but those that open_case() compares over the tree.
  [[nodiscard]] Run what_is_read(size_t count) const {
    Run prefix = frame_of(run_);
    prefix.processes = run_.processes;
    const auto first = [count](const std::vector<double>& column) {
      const size_t kept = std::min(count, column.size());
      return std::vector<double>(column.begin(),
                                 column.begin() + static_cast<std::ptrdiff_t>(kept));
    };
    for (const Series& of : run_.series) {
      const bool compared =
          of.metric == Metric::rss || of.metric == Metric::pss || of.metric == Metric::pss_anon;
      if (!compared) continue;
      prefix.series.push_back(
          {.process = of.process, .metric = of.metric, .label = of.label, .mb = first(of.mb)});
    }
    prefix.gauges.reserve(run_.gauges.size());
    for (const Gauge& of : run_.gauges) {
      prefix.gauges.push_back({.name = of.name, .process = of.process, .value = first(of.value)});
    }
    return prefix;
  }

  const Run& run_;
  const Policy& policy_;
  TreeColumns columns_;
};

std::vector<size_t> even_moments(size_t instants, size_t moments) {
  const size_t first = std::min(kFirstLook, instants);
  std::vector<size_t> counts;
  if (instants - first < moments) {
    for (size_t count = first; count <= instants; ++count) counts.push_back(count);
    return counts;
  }
  const size_t gaps = std::max<size_t>(moments - moments / 8, 2) - 1;
  size_t stride = 1;
  while ((instants - first) / stride >= gaps) stride *= 2;
  if (moments > 1) {
    for (size_t count = first; count < instants; count += stride) counts.push_back(count);
  }
  counts.push_back(instants);
  return counts;
}

// The middles of the gaps in which the word changes, the latest first, at most `most`.
std::vector<size_t> middles_of_changes(const PrefixVerdicts& verdicts, size_t most) {
  std::vector<size_t> middles;
  for (auto after = verdicts.rbegin(); after != verdicts.rend(); ++after) {
    const auto before = std::next(after);
    if (before == verdicts.rend() || middles.size() >= most) break;
    if (before->second.word == after->second.word || after->first - before->first < 2) continue;
    middles.push_back(before->first + (after->first - before->first) / 2);
  }
  return middles;
}

}  // namespace

std::vector<Verdict> hindsight(const Run& run, size_t moments, const Policy& policy,
                               PrefixVerdicts* known) {
  const size_t most = std::max<size_t>(moments, 1);
  const PrefixJudge judge_prefixes(run, policy);
  PrefixVerdicts verdicts;
  std::vector<size_t> next = even_moments(run.instants.size(), most);
  while (!next.empty()) {
    for (const size_t count : next) {
      if (known == nullptr || !known->contains(count)) continue;
      verdicts.emplace(count, std::move(known->at(count)));
    }
    judge_prefixes.look(std::move(next), verdicts);
    next = middles_of_changes(verdicts, most - verdicts.size());
  }
  std::vector<Verdict> list;
  list.reserve(verdicts.size());
  for (const auto& [count, verdict] : verdicts) list.push_back(verdict);
  if (known != nullptr) *known = std::move(verdicts);
  return list;
}

std::optional<double> knew_at(std::span<const Verdict> moments) {
  if (moments.empty() || moments.back().word == Word::undecided) return std::nullopt;
  size_t first = moments.size() - 1;
  while (first > 0 && moments[first - 1].word == moments.back().word) --first;
  return moments[first].last_step;
}

}  // namespace plateau
