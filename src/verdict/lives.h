// SPDX-License-Identifier: Apache-2.0
// Processes that end within a run: what their end means for growth, and what it does not.
//
// Question: the sum over a tree falls when one of its processes ends. Was anything released? Not in
// the sense that matters: what was kept in that process is gone with it, and what is kept in the
// others goes on. A leaking job whose leaking workers end just before it must not look level.
//
// Method. Three kinds of endings are told apart by what is left and what follows.
//   - A part ends for good: processes that hold a good share of the tree go on. What the ended ones
//     held to themselves is kept as if they still held it (`held`), and those that go on are also
//     looked at alone (`surviving`): a job that leaks on is not excused by workers that leaked
//     more.
//   - A part ends and is replaced: data workers are forked anew at each epoch. A pool needs what
//   the
//     largest pool so far needed: in `held` it counts with the highest sum that pools have reached.
//     So a pool that grows and is dropped, again and again, is level from its second life on, and
//     pools that grow from one to the next are not.
//   - The job ends and is started anew: what is left is less than a quarter of what was held before
//     (a supervisor, a shell); or a single process that held a quarter or more ends, and a single
//     one follows it, and it neither lived for just one pass over the data nor was a copy of one
//     that goes on (a snapshot). A parent counts with all it maps: while workers share its pages it
//     owns a fraction of them. That is a new life of
//     the job. Lives are compared with nothing but themselves: the longest one is judged, the
//     latest of those that are about as long, because the more of a life was seen the more it
//     tells.
// What a process holds to itself is its private pages where they are known: shared ones go over to
// those who still share them. Of a single process that goes on, all anonymous pages it maps are its
// own, whoever shares them for a while; so its share of the tree does not sink with every fork.
//
// Worked case: a job and two workers each keep 0.3 MB per step, 29 MB at first, 411 MB at step 580,
// where the workers end. The sum falls to 165 MB and climbs on by 0.3 MB per step; `held` stays at
// 411 MB and climbs on by 0.3 MB per step.
//
// Only processes of one kind take each other's places: what a shell starts to find an interpreter
// is no predecessor of the job's workers. Where a log does not say what its processes are, all are
// of one kind.
//
// Workers that stand beside each other and are replaced one by one (a Pool with maxtasksperchild)
// are a pool however much of the tree they hold: the job goes on while a process goes on that is
// none of them.
//
// A job that starts a helper again and again (a subprocess that converts a file, and ends) is not
// started anew: it goes on. Lives that take no longer than kStepsOfHelper, or kSecondsOfHelper
// where the clock is time, in the middle one of at least kLivesOfHelpers, are those of helpers, and
// the run is one life.
//
// Blind spot: a worker that ends at step 580 and one that is started for another purpose at 581 are
// taken for the same place.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "recording/run.h"

namespace plateau {

// A process that ends gives back what it has first, at once or object by object: at its last
// samples, at most so many.
inline constexpr size_t kMostExiting = 10;

// Processes that ended for good: nothing took their places until the end.
struct EndedPart {
  size_t instant = 0;             // The first one without them.
  std::vector<size_t> processes;  // Indices.
  double mb = 0;                  // What their end gave back.
};

// Instants [from, to): one life of the job.
struct Life {
  size_t from = 0;
  size_t to = 0;
};

struct Lives {
  std::vector<double> held;       // One per instant; NaN where nothing is known.
  std::vector<double> surviving;  // The same without those that ended for good; empty if none did.
  std::vector<EndedPart> ended;   // By rising instant.
  std::vector<Life> lives;        // In order, at least one; together they need not cover the run.
  std::vector<bool> replaced;     // By process: it took another's place or another took its.
  size_t judged = 0;              // Index of the life that is judged.
};

// What is known of the processes, by process and instant; NaN where one is not there.
struct ProcessSums {
  std::vector<std::vector<double>> owned;
  // Of `owned`, what only this process holds. Empty where no process comes or goes.
  std::vector<std::vector<double>> to_itself;
  std::vector<std::vector<double>> mapped;  // All it maps, shared or not; NaN where unknown.
  // What each of them is, as a number: only processes of one kind can take each other's places.
  // Filled where `to_itself` is.
  std::vector<size_t> kind;
  std::vector<bool> worker;  // It is known to be a data worker. Filled where `kind` is.
};

// When an instant was, and how long a pass over the data takes on that clock; 0 if unknown.
struct LifeClock {
  const std::vector<double>& at;
  double epoch = 0;
  double helper = 0;  // A life of no more than this may be a helper's; 0: nobody knows.
};

// A helper may be started in one step and end in the next.
inline constexpr double kStepsOfHelper = 2;
// A job that trains takes as long to import its packages.
inline constexpr double kSecondsOfHelper = 5;
// Fewer lives than this are restarts of a job that dies early, as far as anyone can tell.
inline constexpr size_t kLivesOfHelpers = 4;

// `tree`: the sum of what is owned. Instants from `count` on are not looked at, and keep what
// `tree` has. Of several lives the most telling is judged, or the one asked for.
Lives follow_lives(const ProcessSums& processes, const std::vector<double>& tree,
                   const LifeClock& clock, size_t count, std::optional<size_t> asked = {});

// Is a life at least half as long as the longest?
bool is_telling(const Lives& lives, size_t life, const std::vector<double>& clock);

}  // namespace plateau
