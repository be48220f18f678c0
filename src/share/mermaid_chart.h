// SPDX-License-Identifier: Apache-2.0
// The chart of a run in Mermaid's language: the one kind of picture that GitHub and GitLab draw in
// a job's summary, an issue or a pull request without fetching anything.
//
// Mermaid spaces the values of a line evenly over the horizontal axis, so the series is cut into as
// many equal stretches of the clock, and each gives the highest sample in it (a peak of one sample
// stays), or a point on the line between its neighbours if it has none. Only figures and fixed
// words are in it: no name from a log can become markup. Explanations ahead, spikes as such and
// events are left to the SVG chart and the page.
#pragma once

#include <string>

#include "verdict/verdict.h"

namespace plateau {

// A fenced block of Markdown that ends in a line end; empty with fewer than two samples.
std::string mermaid_chart(const Verdict& verdict);

}  // namespace plateau
