// SPDX-License-Identifier: Apache-2.0
// The closer look at an answered run. Of all judgements only those of new prefixes are made here.
#include <algorithm>
#include <cmath>

#include "answer/answer.h"
#include "profile/heap_choice.h"
#include "profile/profile_counts.h"
#include "recording/facts.h"
#include "verdict/heap_sum.h"

namespace plateau {
namespace {

// A look at a million samples takes 0.1 s: of very long runs fewer moments are judged again.
constexpr size_t kMostWork = 10'000'000;  // Samples, over all moments.
constexpr size_t kFewestMoments = 16;

bool is_same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

bool is_same(const Context& a, const Context& b) {
  return std::all_of(kFacts.begin(), kFacts.end(), [&](const FactKind& fact) {
    if (fact.is_name()) return true;  // No prefix is judged by a name.
    const auto value = [&](const Context& of) {
      return (of.*fact.field) ? (of.*fact.field)->value : kMissing;
    };
    return is_same(value(a), value(b));
  });
}

// Steps may be found late, rows merged and facts learned: then every prefix is another one.
bool still_begins_like(const KnownMoments& known, const Run& run) {
  if (known.count == 0 || known.count > run.instants.size()) return false;
  const Instant& now = run.instants[known.count - 1];
  return is_same(known.context, run.context) && now.step == known.last.step &&
         is_same(now.time_s, known.last.time_s);
}

std::vector<Verdict> moments_of(const Run& run, const AnswerOptions& options,
                                const Verdict& verdict, KnownMoments& known) {
  if (options.moments == 0) return {};
  const size_t samples = run.instants.size();
  const size_t affordable = std::max(kFewestMoments, kMostWork / std::max<size_t>(samples, 1));
  if (!still_begins_like(known, run)) known.moments.clear();
  Verdict& whole = known.moments[samples] = verdict;
  whole.plot.clear();
  whole.marks.clear();
  std::vector<Verdict> moments =
      hindsight(run, std::min(options.moments, affordable), options.policy, &known.moments);
  known.context = run.context;
  known.count = samples;
  if (samples > 0) known.last = run.instants.back();
  return moments;
}

// The Python client counts objects also where no heap was traced.
std::vector<HeapProfile> counts_of(const Run& run, const Policy& policy, const Verdict& verdict) {
  HeapProfile counts;
  add_counts(run, 0, policy, counts);
  if (counts.types.empty() && counts.tensors.empty()) return {};
  counts.clock = verdict.clock;
  counts.from = verdict.first_step;
  counts.to = verdict.last_step;
  return {std::move(counts)};
}

std::vector<HeapProfile> profiles_beside(const Run& run, const Policy& policy,
                                         const Answer& answer) {
  if (run.heaps.empty()) return counts_of(run, policy, answer.verdict);
  const bool is_the_sum = answer.heap && answer.heap->pid == 0;
  if (run.heaps.size() < 2 || is_the_sum) return {};
  Result<HeapProfile> sum =
      profile_heap(run, sum_heaps(run.heaps), {.courses = kMostCourses, .policy = policy});
  if (!sum) return {};
  return {std::move(sum.value())};
}

}  // namespace

void add_detail(const Run& run, const AnswerOptions& options, KnownMoments& known, Answer& answer) {
  Detail detail;
  detail.moments = moments_of(run, options, answer.verdict, known);
  detail.knew_at = knew_at(detail.moments);
  detail.clocks = growth_by_clock(run, answer.verdict);
  detail.profiles = profiles_beside(run, options.policy, answer);
  answer.detail = std::move(detail);
}

}  // namespace plateau
