// SPDX-License-Identifier: Apache-2.0
// All that is answered about one run, assembled in one place from the recording and its heaps:
// judge, run, watch, report, serve and the page show an Answer and add nothing of their own, so
// that the same run has the same words, numbers, site and notes everywhere.
//
//   Answer answer = answer_run(run, {.policy = policy});        // Judges the run, once.
//   print(render_verdict(answer.verdict, view));
//   add_detail(run, options, known, answer);                    // For a page.
//
// Reads symbol files where a heap was traced, and nothing else. Not synchronised.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "profile/profile.h"
#include "recording/run.h"
#include "verdict/event_growth.h"
#include "verdict/hindsight.h"
#include "verdict/verdict.h"

namespace plateau {

struct AnswerOptions {
  Policy policy;
  // What to call a run that was never in a file: "python", "pid 4242".
  std::string name;
  // Of a detailed answer: at most so many earlier moments are judged again for "when did it know".
  size_t moments = 96;
};

// Sites of a profile whose course is kept, the first ones.
inline constexpr size_t kMostCourses = 40;

// What only those ask for who look closer: how the answer came about, and the heaps beside the one
// that answers.
struct Detail {
  std::vector<Verdict> moments;       // By rising length of prefix; the last is the whole run.
  std::optional<double> knew_at;      // From where on the word no longer changed.
  std::vector<ClockGrowth> clocks;    // Which clock growth follows.
  std::vector<HeapProfile> profiles;  // The sum over several heaps; or, of a run without any, what
                                      // the Python client counted.
};

struct Answer {
  Verdict verdict;                  // With its file, its site and the importer's notes.
  std::optional<HeapProfile> heap;  // The one that answers for the verdict, if it was traced.
  Fan ahead;                        // Where the explanations lead.
  std::vector<PlotPoint> floor;     // As it was judged.
  std::optional<Detail> detail;
};

// Never fails, like judge().
Answer answer_run(const Run& run, const AnswerOptions& options = {});

// The heap that answers for the verdict, profiled. Empty if none was traced, or it has no rows.
std::optional<HeapProfile> answering_profile(const Run& run, const Verdict& verdict,
                                             const Policy& policy);

// What was judged for the detail of an earlier state of a run.
struct KnownMoments {
  Context context;
  size_t count = 0;  // Of instants that the run had.
  Instant last = {};
  PrefixVerdicts moments;
};

// Fills Answer::detail. The run as a whole is not judged again; nor are prefixes that `known` holds
// if the run still begins like the one they were judged on. `known` holds all of them afterwards.
// Requires: `answer` is answer_run(run, options).
void add_detail(const Run& run, const AnswerOptions& options, KnownMoments& known, Answer& answer);

// For those who ask once.
Answer detailed_answer(const Run& run, const AnswerOptions& options = {});

}  // namespace plateau
