// SPDX-License-Identifier: Apache-2.0
// Memory over the run's clock, as text: the judged series, its spikes, epoch boundaries, the limit
// if it is near, and where the competing explanations lead if growth has not ended.
#pragma once

#include <string>

#include "report/text.h"
#include "verdict/verdict.h"

namespace plateau {

// Lines of at most view.width columns, each with a newline; "" if there are fewer than two points.
std::string render_plot(const Verdict& verdict, const View& view);

}  // namespace plateau
