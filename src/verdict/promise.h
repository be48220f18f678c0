// SPDX-License-Identifier: Apache-2.0
// By when will it be known? A promise, where only time and samples hold the word back.
//
// A growing run stays undecided for three reasons: its curve is not clear, a cache may still be
// filling, or there are too few samples to believe a fit. The first depends on what is still to
// come, and nobody can promise anything. The other two are known to the step, if the curve goes on
// as it does: the weight of a cache that still fills falls with the clock (still_filling_share()),
// and what a fit is worth grows with the samples (worth_of()). So the rule that chooses the word
// (decision.h) is asked about a later moment: there the odds against shapes that end are as they
// are now, those against a cache that fills are what the clock has left of them, and samples have
// come as fast as before. The first moment at which the word would be a leak, confirmation of a
// close call included, is when it will be known, and a bit later is promised.
//
// What is promised is that it is known, not what: a run that turns level before then is called
// level, and that keeps the promise as well.
//
// Worked case: an epoch of 120 steps, a sample every 5, step 100 of a line that is e^3 times
// likelier than any shape that ends. A cache that fills until step 120 fits as well as the line:
// even odds. At the deadline, step 210, 15 % of its weight is left, the line has 84 %, and 42
// samples are worth 74 % of that: 0.5 + 0.34 x 0.74 = 75 %, which is no leak yet. At step 308 it
// is 81 %, and step 339 is promised.
//
// Chosen on recorded runs that constants may be fitted to, and measured on the others:
// docs/accuracy.md, "Promises".
//
// Blind spot: a leak that pauses, or begins anew beneath a cache. The curve is no longer clear
// then, and the promise is broken.
#pragma once

#include <optional>

#include "verdict/decision.h"

namespace plateau {

// The clock value by which it will be decided, unless the curve changes. Empty if it is decided,
// the curve is not clear, or it would take many times as long as it took so far, or longer than
// the run is planned to take. Requires: `decision` has its odds.
std::optional<double> known_by(const Decision& decision, const Timeline& timeline);

}  // namespace plateau
