// SPDX-License-Identifier: Apache-2.0
// Memory over the run's clock, as text: the judged series, its spikes, epoch boundaries, the limit
// if it is near, and where the competing explanations lead if growth has not ended.
#pragma once

#include <cstddef>
#include <string>

#include "report/text.h"
#include "verdict/verdict.h"

namespace plateau {

// How much room a plot gets, besides the width of its view.
struct PlotRoom {
  size_t rows = 12;   // Of the drawing itself; the clock below it takes two more, events one.
  bool notes = true;  // Epoch numbers above, phases and a legend below: up to three rows.
};

// Lines of at most view.width columns, each with a newline; "" if there are fewer than two points.
std::string render_plot(const Verdict& verdict, const View& view, const PlotRoom& room = {});

}  // namespace plateau
