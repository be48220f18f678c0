// SPDX-License-Identifier: Apache-2.0
// The small charts of a job of many ranks: what each rank held, on one clock.
#include <algorithm>
#include <map>

#include "answer/ranks.h"
#include "page/page_numbers.h"
#include "page/page_run.h"

namespace plateau {
namespace {

// A small chart is 200 dots wide; a thousand of them must not make a page of many megabytes.
constexpr size_t kMostRows = 240;
constexpr size_t kMostCells = 200'000;

std::map<int64_t, std::vector<double>> owned_by_rank(const PageRun& page) {
  const std::vector<int64_t> ranks = ranks_of(*page.run);
  const std::vector<std::vector<double>>& owned = page.columns->owned_of_process();
  std::map<int64_t, std::vector<double>> sums;
  for (size_t p = 0; p < owned.size(); ++p) {
    if (ranks[p] < 0) continue;
    std::vector<double>& sum =
        sums.try_emplace(ranks[p], page.run->instants.size(), kMissing).first->second;
    for (size_t i = 0; i < sum.size(); ++i) add_known(sum[i], owned[p][i]);
  }
  return sums;
}

}  // namespace

void write_ranks(JsonWriter& json, const PageRun& page) {
  json.key("ranks");
  const std::optional<JobVerdict>& job = page.answer->verdict.job;
  if (!job) {
    json.null();
    return;
  }
  const std::map<int64_t, std::vector<double>> owned = owned_by_rank(page);
  const size_t rows = std::min(kMostRows, std::max<size_t>(16, kMostCells / job->ranks.size()));
  const Thinning thinning(page.signals.clock_of_instant, rows);
  json.begin_object();
  json.members("x", moments(thinning.place(page.signals.clock_of_instant)));
  json.key("mb").begin_array();
  for (const RankVerdict& rank : job->ranks) {
    const auto line = owned.find(rank.rank);
    if (line == owned.end()) {
      json.begin_array().end_array();
    } else {
      json.value(rounded(thinning.line(line->second)));
    }
  }
  json.end_array().end_object();
}

}  // namespace plateau
