// SPDX-License-Identifier: Apache-2.0
// How early could anyone know? A judge that is told the true curve and the noise of each trace.
//
// For a leak it is told the rate and the onset, for bounded growth when it ends. What it is not
// told is which of the two twins it looks at: growth that goes on, or growth that stops at the end
// of the first pass over the data (where there is one and the leak began before it), where its true
// end is, or, for a leak without epochs, no growth at all. Until that moment the twins are one
// curve. Afterwards they part by d(t) = rate x (t - moment), and the evidence between them is |d|^2
// / 2, measured in the noise, with d whitened for its correlation and the unknown level taken out.
// It decides when that reaches the log odds at which Plateau says leak.
//
// The noise is what is left of the tree's curve after a running median, with its correlation from
// one sample to the next.
#pragma once

#include <optional>

#include "trace.h"

namespace plateau::bench {

// The step at which the oracle decides; empty if not within the trace.
std::optional<double> oracle_decides(const Trace& trace);

}  // namespace plateau::bench
