// SPDX-License-Identifier: Apache-2.0
// Everything that is known about a run once its series are judged: what causes and sentences draw
// on.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "verdict/decision.h"
#include "verdict/repeated_lives.h"
#include "verdict/signal.h"
#include "verdict/verdict.h"

namespace plateau {

// How a count (tensors, threads, processes) moved along the run.
struct CountTrend {
  std::string name;
  double first = 0;
  double last = 0;
  double rise = 0;      // Last quarter's median over the first quarter's, as a share.
  bool rising = false;  // By more than a tenth, and still in the second half.
};

struct CaseFile {
  const Run* run = nullptr;
  const Signals* signals = nullptr;
  Timeline timeline;
  RepeatedLives repeated;
  size_t headline = 0;              // Index of the component that decides.
  std::vector<Decision> decisions;  // Parallel to signals->components.
  bool of_survivors = false;        // Of owned memory only what goes on was judged; see lives.h.
  std::vector<TimedValue> until_ended;  // Owned memory until the first end, if that was judged.
  std::vector<CountTrend> counts;       // Gauges, and "processes" if their number changes.
  std::string epoch_source;             // "663 examples / 8 per step", "--epoch-steps", ...
  // Tree totals over the processes that live for most of the run, late over early, where logged:
  // flat RSS under rising PSS is copy-on-write.
  std::optional<double> rss_growth_mb;
  std::optional<double> pss_growth_mb;

  // The count of `what` ("objects", "tensors", "threads", "processes"): of the gauges "what",
  // "what.anything" and "gc.what" the first that rises, else the first; nullptr if there is none.
  [[nodiscard]] const CountTrend* count(std::string_view what) const;
  [[nodiscard]] const Decision& decision() const { return decisions[headline]; }
  [[nodiscard]] const Component& component() const { return signals->components[headline]; }
  // The series that is reported and drawn.
  [[nodiscard]] const std::vector<TimedValue>& shown() const {
    if (headline == 0 && !until_ended.empty()) return until_ended;
    return of_survivors && headline == 0 ? component().surviving : component().points;
  }
  // Growth for each example that was counted as new, over the floors.
  [[nodiscard]] std::optional<double> mb_per_new_example() const;
  // What is in the judged series at its end, although it ended with its process.
  [[nodiscard]] double ended_mb() const {
    if (component().held.empty() || of_survivors || !until_ended.empty()) return 0;
    return component().held.back().mb - component().points.back().mb;
  }
};

// Collects what is known before judging: timeline, counts, sources. Decisions stay empty.
// Requires: `run` and `signals` outlive the result.
CaseFile open_case(const Run& run, const Signals& signals, const Policy& policy);

// Did the climb end with the first pass over the data? Within a sample or so of it: epochs are
// known to a few per cent only, with dropped last batches and uneven loaders.
bool ended_with_epoch(const CaseFile& file, const Verdict& verdict);

// Does growth follow the count of new examples, beyond the first pass?
bool follows_new_examples(const CaseFile& file);
// That as a finding.
Finding following_examples(const CaseFile& file);

// Is the program that grew known to be none of Python's? By the names that Plateau's own recordings
// give to processes: "python train.py", "redis-server". `verdict.processes` must be filled.
bool runs_without_python(const CaseFile& file, const Verdict& verdict);

// The count as a finding: objects_accumulate or objects_steady.
Finding finding_of(const CountTrend& count);
// Spikes as a finding.
Finding finding_of(const Verdict::Spikes& spikes);

// Weight of a family in the deciding component.
inline double weight_of(const CaseFile& file, Family family) {
  return file.decision().posterior.families[static_cast<size_t>(family)].weight;
}

}  // namespace plateau
