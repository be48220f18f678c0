// SPDX-License-Identifier: Apache-2.0
// Makes optimizer state when it is first needed.
//
// Parameters of 40 MiB exist from the start. Steps 1 to 5 each make the two moments of a fifth of
// them, 16 MiB a step, as Adam does when layers get their first gradient. Nothing after that.
// Cause: start-up-state.
// Signal: anonymous memory triples within the first steps, then is level.
// Verdict: plateau.
#include "leaker.h"

int main(int argc, char** argv) {
  constexpr size_t kParametersKb = 40UL * 1024;
  leaker::Loop loop(leaker::Plan{}.read(argc, argv));
  leaker::block(kParametersKb);
  loop.pause(30);
  loop.run([](int step) {
    if (step <= 5) leaker::block(2 * kParametersKb / 5);
  });
}
