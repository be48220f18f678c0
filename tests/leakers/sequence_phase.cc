// SPDX-License-Identifier: Apache-2.0
// Trains on short sequences first and on long ones from step 300 on.
//
// The work space is 30 MiB for the first phase and is replaced by one of 110 MiB for the second.
// Cause: phase-change.
// Signal: one step up in the middle of the run, level before and after; it is no evaluation, no
//   checkpoint and no end of an epoch.
// Verdict: plateau.
#include "leaker.h"

int main(int argc, char** argv) {
  leaker::Plan plan;
  plan.epoch_steps = 125;
  leaker::Loop loop(plan.read(argc, argv));
  leaker::block(40UL * 1024);
  void* space = leaker::block(30UL * 1024);
  const int change = plan.steps / 2;
  loop.run([&](int step) {
    if (step != change) return;
    std::free(space);
    space = leaker::block(110UL * 1024);
  });
}
