// SPDX-License-Identifier: Apache-2.0
// Keeps the staging buffer of every checkpoint.
//
// Every 60 steps a save copies the parameters into a staging buffer of 12 MiB, writes it out (here:
// waits) and forgets it.
// Cause: checkpoint-leak.
// Signal: anonymous memory is a staircase whose steps are the checkpoints; level between them.
// Verdict: leak; per checkpoint, so the rate follows how often one saves.
#include "leaker.h"

int main(int argc, char** argv) {
  constexpr size_t kStagingKb = 12UL * 1024;
  leaker::Plan plan;
  plan.epoch_steps = 120;
  plan.step_s = 0.016;
  leaker::Loop loop(plan.read(argc, argv));
  leaker::block(40UL * 1024);
  loop.run([&loop](int step) {
    if (step % 60 != 0) return;
    loop.say("begin save");
    leaker::block(kStagingKb);
    loop.pause(10);
    loop.say("end save");
    loop.say("mark checkpoint");
  });
}
