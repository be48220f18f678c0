// SPDX-License-Identifier: Apache-2.0
// Findings, not series: what the members of a workload have in common, and which of it to report.
//
// Members are grouped by workload and version: 64 pods that leak since a release are one finding,
// and one pod of 64 that does is another kind of finding, which names it. The unit of the list
// whose false share is held (discoveries.h) is the group, by the mean of its members' Bayes
// factors; what is known of the others is in them (evidence.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/judge_series.h"

namespace plateau::fleet {

struct Finding {
  std::string cluster;
  std::string space;
  std::string workload;
  std::string container;
  std::string version;
  Word word = Word::undecided;  // leak: in the list. undecided: looks like one, and is not.
  double leak_probability = 0;
  double log_factor = 0;  // Of the Bayes factor behind it, the natural logarithm.
  bool bounded = false;   // In the shorter list too, which holds under any dependence.
  size_t members = 0;
  size_t affected = 0;
  std::vector<std::string> examples;   // Some of the affected, the fastest first.
  bool odd_one = false;                // One of several does what none of the others does.
  double growth_mb_per_hour = 0;       // Median over the affected.
  double last_mb = 0;                  // Median over the affected.
  std::optional<double> limit_in_s;    // Until the first of the affected is at its limit.
  std::optional<std::string> since;    // The version that brought it: earlier ones do not grow.
  std::optional<double> since_s;       // When that was first seen.
  size_t restarts = 0;                 // Of the affected, within the window;
  size_t deaths = 0;                   // those of them that were at a limit, after a climb,
  bool others_live = false;            // while another member lived on below it.
  bool held_back = false;              // For want of anything that tells the load.
  LoadSource load = LoadSource::none;  // Of the first example.
  std::array<float, kSparkPoints> spark{};  // Of the first example.
  std::shared_ptr<const Closeup> closeup;   // Of the first example, if a report is wanted.
};

struct FleetAnswer {
  std::vector<Finding> findings;  // Leaks first, by falling harm; then the undecided.
  size_t series_judged = 0;
  size_t series_failed = 0;  // That exist and could not be read.
  size_t series_brief = 0;   // With too few samples to be judged.
  size_t duplicates = 0;     // Series that told what another one did.
  size_t samples = 0;
  size_t workloads = 0;   // By version.
  double most_false = 0;  // As asked for.
  double expected_false_share = 0;
  double null_share = 1;
  double cautious_null_share = 1;
  double window_s = 0;
  double end_s = 0;                   // Of the window, since 1970.
  std::vector<std::string> troubles;  // Why something is missing, as sentences.
  std::vector<std::string> warnings;  // Of the database.

  [[nodiscard]] bool partial() const {
    return series_failed > 0 || !warnings.empty() || !troubles.empty();
  }
  [[nodiscard]] size_t leaks() const;
};

// Fills in findings and what concerns their list. `answer.most_false` says how false it may be.
void find(const std::vector<SeriesVerdict>& series, FleetAnswer& answer);

// Larger is worse: probability, members, and how soon the first of them is out of memory.
double harm_of(const Finding& finding);

}  // namespace plateau::fleet
