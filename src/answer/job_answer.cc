// SPDX-License-Identifier: Apache-2.0
#include "answer/job_answer.h"

#include <algorithm>
#include <utility>

#include "answer/ranks.h"

namespace plateau {

std::optional<size_t> telling_recording(const Answer& answer, std::span<const Run> runs) {
  if (!answer.verdict.job) return std::nullopt;
  const RankVerdict* told = nullptr;
  for (const RankVerdict& rank : answer.verdict.job->ranks) {
    const bool worth = rank.odd || rank.saves;
    if (worth && (told == nullptr ||
                  std::pair(rank.odd, rank.confidence) > std::pair(told->odd, told->confidence))) {
      told = &rank;
    }
  }
  if (told == nullptr) return std::nullopt;
  std::optional<size_t> latest;
  for (size_t i = 0; i < runs.size(); ++i) {
    const std::vector<int64_t> ranks = ranks_of(runs[i]);
    if (std::ranges::find(ranks, told->rank) == ranks.end() || runs[i].instants.empty()) continue;
    if (!latest || runs[i].instants.front().time_s >= runs[*latest].instants.front().time_s) {
      latest = i;
    }
  }
  return latest;
}

Answer answer_job(const Run& job, std::span<const Run> runs, const AnswerOptions& options) {
  Answer answer = answer_run(job, options);
  const std::optional<size_t> odd = telling_recording(answer, runs);
  if (!odd || answer.verdict.word != Word::leak) return answer;
  const Run& own = runs[*odd];
  if (own.heaps.empty() && !own.holders) return answer;
  const Answer of_rank = answer_run(own, options);
  answer.verdict.site = of_rank.verdict.site;
  answer.verdict.holders = of_rank.verdict.holders;
  answer.verdict.holder_steps = of_rank.verdict.holder_steps;
  // What is named as the holder is not unknown to the causes.
  if (of_rank.verdict.word == Word::leak && !of_rank.verdict.holders.empty()) {
    answer.verdict.causes = of_rank.verdict.causes;
  }
  return answer;
}

}  // namespace plateau
