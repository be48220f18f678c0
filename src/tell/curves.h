// SPDX-License-Identifier: Apache-2.0
// A moment of a watched job as named numbers, for those who draw them beside the loss: TensorBoard,
// Weights & Biases, MLflow. docs/telling.md lists the names.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "curves/curves.h"
#include "probe/snapshot.h"
#include "verdict/verdict.h"

namespace plateau {

struct LiveMoment {
  double elapsed_s = 0;
  int64_t step = -1;  // -1: none is known.
  pid_t pid = -1;     // Of the job.
  const Snapshot* snapshot = nullptr;
  const Verdict* verdict = nullptr;  // None yet.
};

Curves curves_of(const LiveMoment& moment);

// Takes memory out of the last point of a job that has ended, if it lies a tenth or more below what
// `verdict` counts as the last: it was read while the job took down what it had held.
void leave_out_tear_down(Curves& curves, const Verdict& verdict);

// The word as a height: 0 plateau, 1 warming, 2 undecided, 3 leak.
double height_of(Word word);

// "LEAK, 97 %: the floor rises …": one line for a person.
std::string one_line(const Verdict& verdict);

}  // namespace plateau
