// SPDX-License-Identifier: Apache-2.0
#include "calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>

#include "oracle.h"
#include "rivals.h"
#include "score.h"
#include "verdict/verdict.h"

namespace plateau::bench {
namespace {

constexpr int kEarliestTenth = 2;
// A leak of which less has come yet is no leak to see.
constexpr double kSeenFromMb = 3;

struct Look {
  const Trace* trace = nullptr;
  int tenth = 0;
  double now = 0;
  double said = 0;  // Probability of a leak, by word and confidence or by the leaning.
  Verdict verdict;
};

double said_of(const Verdict& verdict) {
  if (verdict.word == Word::leak) return verdict.confidence;
  if (verdict.word != Word::undecided) return 1 - verdict.confidence;
  double endless = 0;
  for (const Explanation& explanation : verdict.explanations) {
    if (!explanation.bounded) endless += explanation.weight;
  }
  return endless;
}

double added_by(const Look& look) {
  return look.trace->rate_mb_per_step * std::max(0.0, look.now - look.trace->onset_step);
}

bool decided_fine(const Look& look) {
  return look.verdict.word == Word::plateau || look.verdict.word == Word::warming;
}

std::vector<Look> looks_at(const Trace& trace) {
  std::vector<Look> looks;
  for (int tenth = kEarliestTenth; tenth <= 10; ++tenth) {
    const plateau::Run run = first_tenths(trace.run, tenth);
    if (run.instants.size() < 2) continue;
    Look look{.trace = &trace, .tenth = tenth, .verdict = judge(run)};
    look.now = static_cast<double>(run.instants.back().step);
    look.said = said_of(look.verdict);
    looks.push_back(std::move(look));
  }
  return looks;
}

double share(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void print_reliability(const std::vector<std::vector<Look>>& all) {
  struct Bin {
    double said = 0, leaks = 0, count = 0;
  };
  std::array<Bin, 10> bins{};
  double off = 0, looks = 0;
  for (const auto& of_trace : all) {
    for (const Look& look : of_trace) {
      if (look.verdict.explanations.empty() || look.verdict.confidence == 0) continue;
      if (look.trace->leak && added_by(look) < kSeenFromMb) continue;
      Bin& bin = bins[std::min<size_t>(9, static_cast<size_t>(look.said * 10))];
      bin.said += look.said, bin.leaks += look.trace->leak, ++bin.count;
    }
  }
  fmt::print(
      "| said, probability of a leak | looks | said on average | was a leak "
      "|\n|---|---|---|---|\n");
  for (size_t i = 0; i < bins.size(); ++i) {
    const Bin& bin = bins[i];
    fmt::print("| {} to {} % | {} | {:.1f} % | {:.1f} % |\n", 10 * i, 10 * (i + 1), bin.count,
               100 * share(bin.said, bin.count), 100 * share(bin.leaks, bin.count));
    off += std::fabs(bin.said - bin.leaks), looks += bin.count;
  }
  fmt::print("\n- mean distance of said and true over all looks: {:.1f} points\n",
             100 * share(off, looks));
}

struct Recall {
  size_t found = 0, all = 0;
};

template <size_t N>
void print_recalls(const std::string& what, const std::array<std::string, N>& names,
                   const std::array<Recall, N>& recalls) {
  fmt::print("- recall by {}:", what);
  for (size_t i = 0; i < N; ++i) {
    fmt::print("{} {} {} of {}", i > 0 ? "," : "", names[i], recalls[i].found, recalls[i].all);
  }
  fmt::print("\n");
}

void print_recall(const std::vector<std::vector<Look>>& all) {
  std::array<Recall, 4> by_size{};
  std::array<Recall, 3> by_length{};
  for (const auto& looks : all) {
    const Trace& trace = *looks.back().trace;
    if (!trace.leak) continue;
    const double mb = trace.added_mb;
    const size_t samples = trace.run.instants.size();
    const size_t size = mb < 10 ? 0 : mb < 30 ? 1 : mb < 100 ? 2 : 3;
    const size_t length = samples < 60 ? 0 : samples < 150 ? 1 : 2;
    const bool found = looks.back().verdict.word == Word::leak;
    by_size[size].found += found, ++by_size[size].all;
    if (mb < kCountsFromMb) continue;
    by_length[length].found += found, ++by_length[length].all;
  }
  print_recalls<4>("what the leak added", {"under 10 MB", "10 to 30", "30 to 100", "over 100"},
                   by_size);
  print_recalls<3>("length, from 10 MB on", {"under 60 samples", "60 to 150", "over 150"},
                   by_length);
}

// From when on the word stays right, as a step; empty if it is not right at the end.
std::optional<double> right_from(const std::vector<Look>& looks) {
  std::optional<double> from;
  for (size_t i = looks.size(); i-- > 0;) {
    const bool right =
        looks[i].trace->leak ? looks[i].verdict.word == Word::leak : decided_fine(looks[i]);
    if (!right) break;
    from = looks[i].now;
  }
  return from;
}

void print_times(const std::vector<std::vector<Look>>& all) {
  std::array<std::vector<double>, 2> shares, ratios;
  std::array<size_t, 2> earlier{};
  for (const auto& looks : all) {
    const Trace& trace = *looks.back().trace;
    const std::optional<double> ours = right_from(looks);
    if (!ours) continue;
    shares[trace.leak].push_back(*ours / looks.back().now);
    const std::optional<double> oracle = oracle_decides(trace);
    if (!oracle) continue;
    // We look at every tenth only, from 20 % on; so does the oracle.
    double at = looks.back().now;
    for (size_t i = looks.size(); i-- > 0 && looks[i].now >= *oracle;) at = looks[i].now;
    ratios[trace.leak].push_back(*ours / at);
    earlier[trace.leak] += *ours < at;
  }
  for (const size_t leak : {1, 0}) {
    fmt::print(
        "- {}: {} are right at the end; in the median from {:.0f} % of the trace on, {:.2f} times "
        "as late as the "
        "oracle ({} of {} before it)\n",
        leak ? "leaks" : "bounded", shares[leak].size(), 100 * median(shares[leak]),
        median(ratios[leak]), earlier[leak], ratios[leak].size());
  }
}

void print_steadiness(const std::vector<std::vector<Look>>& all) {
  size_t flips = 0, flipped = 0, fine_at_end = 0, fine_ever = 0, leaks = 0;
  for (const auto& looks : all) {
    size_t of_trace = 0;
    Word last = Word::undecided;
    bool fine = false;
    for (const Look& look : looks) {
      const Word word = decided_fine(look) ? Word::plateau : look.verdict.word;
      if (look.trace->leak && decided_fine(look) && added_by(look) >= kCountsFromMb) fine = true;
      if (word == Word::undecided) continue;
      of_trace += last != Word::undecided && word != last;
      last = word;
    }
    flips += of_trace, flipped += of_trace > 0;
    if (!looks.back().trace->leak || looks.back().trace->added_mb < kCountsFromMb) continue;
    ++leaks, fine_ever += fine, fine_at_end += decided_fine(looks.back());
  }
  fmt::print("- flips between leak and fine: {} in {} of {} traces\n", flips, flipped, all.size());
  fmt::print(
      "- leaks of 10 MB or more called fine: {} of {} at the end, {} at some look after the first "
      "10 MB\n",
      fine_at_end, leaks, fine_ever);
}

// Mean growth per step from a look to the end of the trace, by the medians of a tenth at either
// end; empty where less than a fifth is left, or the trace has too few samples to tell.
std::optional<double> rate_after(const Look& look) {
  const Curve curve = tree_curve(look.trace->run);
  const double end = curve.at.back();
  const double tenth = (end - curve.at.front()) / 10;
  if (end - look.now < 2 * tenth) return std::nullopt;
  const auto median_between = [&](double from, double to) {
    std::vector<double> inside;
    for (size_t i = 0; i < curve.at.size(); ++i) {
      if (curve.at[i] >= from && curve.at[i] <= to) inside.push_back(curve.mb[i]);
    }
    return inside.size() < 3 ? kMissing : median(inside);
  };
  const double rise =
      median_between(end - tenth, end) - median_between(look.now - tenth / 2, look.now + tenth / 2);
  const double rate = rise / (end - tenth / 2 - look.now);
  return std::isfinite(rate) ? std::optional(rate) : std::nullopt;
}

void print_intervals(const std::vector<std::vector<Look>>& all) {
  double held = 0;
  std::vector<double> widths;
  for (const auto& looks : all) {
    // Where processes come and go, the sum over those that are there is not what is judged.
    const Verdict& end = looks.back().verdict;
    if (!end.ended.empty() || !end.lives.empty()) continue;
    for (const Look& look : looks) {
      if (!look.trace->leak || look.verdict.word != Word::leak) continue;
      const std::optional<double> truth = rate_after(look);
      if (!truth) continue;
      const Interval& range = look.verdict.current_rate_range;
      held += range.low <= *truth && *truth <= range.high;
      widths.push_back(std::fabs(*truth - look.verdict.current_rate_mb_per_step) /
                       std::max((range.high - range.low) / 2, 1e-9));
    }
  }
  std::sort(widths.begin(), widths.end());
  const double factor = widths.empty() ? 0 : widths[widths.size() * 9 / 10];
  fmt::print(
      "- growth of leaks, from a look to the end: {:.0f} % of {} intervals of 90 % held it; nine "
      "in "
      "ten would need {:.1f} times the width\n",
      100 * share(held, static_cast<double>(widths.size())), widths.size(), factor);
}

}  // namespace

void print_calibration(const std::vector<Trace>& traces) {
  std::vector<std::vector<Look>> all;
  for (const Trace& trace : traces) {
    std::vector<Look> looks = looks_at(trace);
    if (!looks.empty()) all.push_back(std::move(looks));
  }
  if (all.empty()) return;
  print_reliability(all);
  print_recall(all);
  print_times(all);
  print_steadiness(all);
  print_intervals(all);
}

}  // namespace plateau::bench
