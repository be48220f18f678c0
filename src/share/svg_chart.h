// SPDX-License-Identifier: Apache-2.0
// The chart of a verdict as one SVG file: for issues, notebooks, documents and pull requests.
//
// It shows what the terminal's plot shows, from the same scene: the judged series, spikes, passes
// over the data, the limit, where the explanations lead, and the phases with their rates. Above it
// stand the word and the answer. The file needs nothing else: no script, no font, no network; it
// follows the viewer's light or dark. Texts from the log are escaped here.
#pragma once

#include <string>

#include "verdict/verdict.h"

namespace plateau {

// Never empty: a verdict with fewer than two points gives a picture that says so.
std::string svg_chart(const Verdict& verdict);

}  // namespace plateau
