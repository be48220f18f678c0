// SPDX-License-Identifier: Apache-2.0
// What the server knows of one file: enough for the list, the verdict and the metrics.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "verdict/verdict.h"

namespace plateau {

// The number of a process that stands for all of its role.
inline constexpr int64_t kAllOfRole = -1;

struct RunFacts {
  std::string id;    // Opaque, the same for the same path; for queries.
  std::string name;  // For a reader; no two runs of a server have the same.
  std::string path;
  // What else its figures are labelled with: its job, its rank, ...
  std::vector<std::pair<std::string, std::string>> labels = {};
  uint64_t version = 0;  // Rises with every change; 0: not read yet.
  bool live = false;     // Somebody still writes it.
  bool ended = false;    // The recording says how the job ended.
  double changed_unix_s = 0;
  std::optional<Verdict> verdict;  // Of the file's last run, without its plot.
  std::vector<PlotPoint> course;   // What the plot shows, in a few points.
  std::string verdict_json;        // As `plateau judge --json` has it; empty without a verdict.
  std::string trouble;             // Why there is no verdict.
};

// Points of a line as small as a word: of each of a few stretches the highest.
std::vector<PlotPoint> short_course(const std::vector<PlotPoint>& plot);

// A RunSummary of web/src/live.ts, or with `version` a LiveState, which has no course.
std::string run_summary_json(const RunFacts& facts, bool with_version);

}  // namespace plateau
