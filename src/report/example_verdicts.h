// SPDX-License-Identifier: Apache-2.0
// Hand-made verdicts for the tests of this room; defined in example_verdicts_test.cc.
#pragma once

#include "verdict/verdict.h"

namespace plateau {

Verdict plateau_example();    // Like corpus/model-garden/run2.log with 663 examples, batch 8.
Verdict undecided_example();  // Like run1.log, stopped at step 70, with a limit of 20 GB.
Verdict leak_example();       // A data worker leaks under a flat parent; file pages grow too.
Verdict spikes_example();     // Level floor, evaluation spikes, a sawtooth; time as the clock.
Verdict warming_example();    // Grows, and ends; planned end and limit known.
Verdict empty_example();      // Nothing was measured.

}  // namespace plateau
