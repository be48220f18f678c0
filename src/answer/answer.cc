// SPDX-License-Identifier: Apache-2.0
#include "answer/answer.h"

#include <fmt/format.h>

#include "answer/other_figures.h"
#include "answer/ranks.h"
#include "answer/series.h"
#include "base/units.h"
#include "profile/heap_choice.h"
#include "recording/facts.h"

namespace plateau {
namespace {

std::vector<std::string> notes_of(const Run& run) {
  std::vector<std::string> notes = run.notes;
  if (run.lines_bad == 0) return notes;
  std::string text = fmt::format("{} of {} lines looked like data but could not be read",
                                 format_count(static_cast<int64_t>(run.lines_bad)),
                                 format_count(static_cast<int64_t>(run.lines_read)));
  if (!run.bad_samples.empty()) text += fmt::format(": {}", fmt::join(run.bad_samples, "; "));
  notes.push_back(text + ".");
  return notes;
}

std::optional<Launched> launched_of(const Context& context) {
  const auto number = [](const std::optional<Fact>& fact) {
    const bool sane = fact && fact->value >= 0 && fact->value <= static_cast<double>(kMaxRank);
    return sane ? static_cast<int64_t>(fact->value) : int64_t{-1};
  };
  const auto name = [](const std::optional<Fact>& fact) { return fact ? fact->text : ""; };
  if (!context.job && !context.rank) return std::nullopt;
  return Launched{.job = name(context.job),
                  .node = name(context.node),
                  .rank = number(context.rank),
                  .world = number(context.world),
                  .attempt = number(context.attempt)};
}

}  // namespace

std::optional<HeapProfile> answering_profile(const Run& run, const Verdict& verdict,
                                             const Policy& policy) {
  if (run.heaps.empty()) return std::nullopt;
  Run heaps;
  heaps.source = run.source;
  heaps.processes = run.processes;
  heaps.heaps = run.heaps;
  add_sum_of_heaps(heaps);
  const HeapTrack* track = answering_heap(heaps, verdict);
  if (track == nullptr) return std::nullopt;
  Result<HeapProfile> profile =
      profile_heap(run, *track, {.courses = kMostCourses, .policy = policy});
  if (!profile) return std::nullopt;
  return std::move(profile.value());
}

Answer answer_run(const Run& run, const AnswerOptions& options) {
  Judged judged = judge_ahead(run, options.policy);
  judge_series(run, options.policy, judged);
  judge_ranks(run, options.policy, judged);
  judge_other_figures(run, options.policy, judged);
  Answer answer{.verdict = std::move(judged.verdict),
                .heap = {},
                .ahead = std::move(judged.ahead),
                .floor = std::move(judged.floor),
                .detail = {}};
  Verdict& verdict = answer.verdict;
  if (verdict.file.empty()) verdict.file = options.name;
  answer.heap = answering_profile(run, verdict, options.policy);
  if (answer.heap) verdict.site = growth_place(*answer.heap);
  verdict.notes = notes_of(run);
  verdict.launched = launched_of(run.context);
  if (run.holders) {
    verdict.holders = run.holders->holders;
    verdict.holder_steps = run.holders->steps();
  }
  return answer;
}

Answer detailed_answer(const Run& run, const AnswerOptions& options) {
  Answer answer = answer_run(run, options);
  KnownMoments none;
  add_detail(run, options, none, answer);
  return answer;
}

}  // namespace plateau
