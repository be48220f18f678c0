// SPDX-License-Identifier: Apache-2.0
// The answer: is it a leak, or will it plateau, and everything a report may say about it.
//
// judge() is pure: no I/O, no clock, no randomness, no state. Looking at a growing recording again
// and again is judging each prefix, so streaming and batch cannot differ. A Verdict carries the
// evidence it cites and the points to draw, so that a report never needs the recording.
//
// "Step" in the names below means the run's clock: optimizer steps when the log has them, else
// seconds, else the sample number; Verdict::clock says which.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recording/run.h"
#include "verdict/course.h"
#include "verdict/finding.h"
#include "verdict/job_verdict.h"
#include "verdict/policy.h"
#include "verdict/word.h"

namespace plateau {

// One candidate shape of the growth, with its share of belief after seeing the data.
struct Explanation {
  std::string name;         // Stable id: "flat", "epoch-hinge", "saturating", "linear", ...
  std::string_view phrase;  // For src/words: "bounded cache, full at {when}". Static storage.
  double when = 0;          // {when} in it: the clock of a hinge or a start.
  double end = 0;           // {end} in it.
  bool bounded = true;      // Does growth end under it?
  double weight = 0;        // Posterior share; all explanations of a component sum to 1.
  std::optional<double> plateau_mb;    // Where it ends, if bounded and known.
  std::optional<double> ends_at_step;  // When it ends.
  double rate_mb_per_step = 0;         // Growth it sees now, per step.
  std::vector<Finding> speaks_for;
  std::vector<Finding> speaks_against;
};

// What to change. Title, confirming experiment and fix stand in src/words/cause_table.cc.
struct Cause {
  std::string_view name;  // Stable id from docs/causes.md: "per-example-cache", ...
  // Rank, not a probability: how well the case matches, set by hand and shared out so that all sum
  // to at most 1.
  double weight = 0;
  Finding evidence;
  std::optional<double> gives_back_mb;  // What the fix would return, if that is known.
};

// How a component was formed: a rung of its ladder (recording/pages.h).
struct Measure {
  Metric metric = Metric::memory;
  std::string_view what;  // "PSS". Static storage.
  bool with_swap = false;
  size_t processes = 1;  // Summed over so many.
};
// The same figure, over however many processes.
inline bool same_figure(const Measure& a, const Measure& b) {
  return a.what == b.what && a.with_swap == b.with_swap;
}

// The verdict on one kind of page of the whole tree: owned, shared, file-backed, swap, GPU.
struct ComponentVerdict {
  std::string name;  // "owned", "shmem", "file", "gpu", ...
  Measure measure;
  Word word = Word::undecided;
  double confidence = 0;
  double first_mb = 0;
  double last_mb = 0;
  double rate_mb_per_step = 0;
  bool reclaimable = false;  // File-backed: the kernel takes it back under pressure.
};

struct ProcessGrowth {
  int64_t id = 0;
  bool id_is_pid = false;
  std::string name;
  Role role = Role::unknown;
  double first_mb = 0;
  double last_mb = 0;
  double growth_mb = 0;              // Floor to floor.
  double share = 0;                  // Of the tree's growth, 0..1.
  std::optional<double> since_step;  // If the beginning of the run was left out of both.
  std::optional<double> ended_step;  // If it ended before the run did, and nothing replaced it.
  struct Alone {
    Word word = Word::undecided;
    double confidence = 0;
  };
  std::optional<Alone> alone;  // What it is by itself, where the run is of several series.
};

// Processes that ended before the run did: their end is no release. See lives.h.
struct EndedProcesses {
  double step = 0;
  size_t processes = 0;
  double mb = 0;  // What their end gave back.
};

// One life of a job that was started anew.
struct JobLife {
  double from_step = 0;
  double to_step = 0;
  double first_mb = 0;
  double last_mb = 0;
  bool judged = false;
};

struct Verdict {
  // Compiled once, in verdict.cc: copies and moves of so many members are long.
  Verdict();
  Verdict(const Verdict& other);
  Verdict(Verdict&& other) noexcept;
  Verdict& operator=(const Verdict& other);
  Verdict& operator=(Verdict&& other) noexcept;
  ~Verdict();

  std::string file;
  std::string title;  // Which run of the file.
  Word word = Word::undecided;
  double confidence =
      0;  // Probability that the word holds, given the models; 0: none can be given.
  Risk risk;
  std::string component;                 // Name of the component that decides.
  std::optional<ProcessGrowth> process;  // The process that grows, if the log has processes.
  std::string site;  // Where the growth is allocated: "load (ImageFile.py:245)"; filled in by
                     // those who can name stacks, empty if the heap was not traced.
  Clock clock = Clock::steps;
  double first_step = 0;
  double last_step = 0;
  double first_mb = 0;
  double last_mb = 0;
  size_t samples = 0;

  // Growth: while it lasts if it lasts, else of the phase in which it happened.
  double rate_mb_per_step = 0;
  Interval rate_range;                   // 90 %.
  double current_rate_mb_per_step = 0;   // At the end of the run; 0 when level.
  Interval current_rate_range;           // 90 %.
  std::optional<double> mb_per_example;  // Growth per example seen first, if batch is known.

  // Level: since which step, at what height, within which band. Empty while growing.
  struct Settled {
    double step = 0;
    double mb = 0;
    Interval range;
  };
  std::optional<Settled> settled;
  std::optional<double> onset_step;  // Since when it grows, while it does; see onset.h.

  // Where growth will end, averaged over the bounded explanations. Empty if none is believed.
  struct Forecast {
    double plateau_mb = 0;
    Interval range;  // 90 %.
    std::optional<double> at_step;
  };
  std::optional<Forecast> forecast;
  std::optional<double> forecast_at_total_steps_mb;  // Floor at the planned end, median.

  // For whoever looks at thousands of runs at once: how strongly this one speaks, without the
  // rounding of a probability near 1. Natural logarithms of the odds of a leak with even camps, so
  // that they are Bayes factors; 0 where nothing is known.
  struct LeakOdds {
    double all = 0;     // Against everything that is bounded.
    double shapes = 0;  // Against what ends visibly: without a cache that is still filling, which
                        // no data can refute, only time.
  };
  LeakOdds leak_odds;

  std::optional<double> epoch_steps;
  std::optional<double> total_steps;

  struct Spikes {
    size_t count = 0;
    double height_mb = 0;                // Median over the floor.
    double max_mb = 0;                   // Highest value seen.
    std::string_view at_events;          // "evaluations" or "checkpoints" if they come with those.
    std::optional<double> period_steps;  // If they come evenly.
  } spikes;
  struct Sawtooth {
    double period_steps = 0;
    double height_mb = 0;
  };
  std::optional<Sawtooth> sawtooth;

  std::vector<Phase> phases;
  // Counted as if still held in growth, phases and `settled`, or, if worse, left out of everything.
  std::vector<EndedProcesses> ended;
  bool only_survivors_judged = false;
  std::vector<JobLife> lives;  // Empty unless there is more than one.
  std::vector<Cause> causes;
  std::vector<Explanation> explanations;  // By falling weight.
  std::vector<ComponentVerdict> components;
  std::vector<ProcessGrowth> processes;  // By falling growth.
  std::optional<Launched> launched;      // If a launcher said so.
  std::optional<JobVerdict> job;         // If several ranks of a job were seen.

  std::optional<double> decides_at_step;  // When undecided: at the earliest known then.
  // When undecided only because of time and samples: decided by then in most recorded runs
  // (promise.h). Else empty.
  std::optional<double> known_by_step;
  // Growth without end is likelier and would be called a leak, but until then it may be a warm-up.
  std::optional<double> held_back_until_step;
  bool may_follow_load = false;  // What holds it back: one climb, and nothing that tells the load.
  bool creeps = false;        // A plateau under slow growth without end, too slow to matter so far.
  bool over = false;          // The job has ended: nothing more will be known from it.
  Finding undecided_because;  // What is tied.
  Finding experiment;         // The cheaper way to know.
  Finding missing;            // Information that would decide.
  std::vector<Holder> holders;     // What was seen to hold the growth, the most growing first ...
  double holder_steps = 0;         // ... over so many steps; 0: not known.
  std::vector<Finding> evidence;   // The strongest first.
  std::vector<Finding> warnings;   // About the data: clock, few samples.
  std::vector<std::string> notes;  // What the reader of the log noted, in its own words.

  std::vector<PlotPoint> plot;  // The judged series, thinned to at most 2,000 points.
  std::vector<PlotMark> marks;
};

// Judges one run. Never fails: too little data is `undecided`, with the reason.
Verdict judge(const Run& run, const Policy& policy = {});

// The same with the answer taken from the named component ("owned", "shmem", ...), also where
// another one is worse. A run without that component is judged as by judge().
Verdict judge_component(const Run& run, std::string_view component, const Policy& policy = {});

// The verdict as it would have been at each instant from the `first`th on, in order. Of more than
// 2,000 instants evenly spaced ones are taken; the last is always among them.
std::vector<Verdict> replay(const Run& run, const Policy& policy = {}, size_t first = 3);

}  // namespace plateau
