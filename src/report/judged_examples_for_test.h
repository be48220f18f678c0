// SPDX-License-Identifier: Apache-2.0
// Verdicts for the tests of this room: what judge() says of recorded traces in corpus/. Defined in
// judged_examples_test.cc. Each is judged once and handed out as a copy.
#pragma once

#include "verdict/verdict.h"

namespace plateau {

Verdict plateau_example();    // model-garden/run2.log, 663 examples, batch 8.
Verdict undecided_example();  // run1.log, stopped at step 70, with a limit of 20 GB.
Verdict leak_example();       // A child leaks under a flat parent.
Verdict spikes_example();     // Level floor with spikes at evaluations; a limit is known.
Verdict warming_example();    // Grows, and ends; planned end known.
Verdict empty_example();      // Nothing was measured.

}  // namespace plateau
