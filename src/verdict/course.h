// SPDX-License-Identifier: Apache-2.0
// The course of memory over a run's clock, as a verdict judges it and a chart draws it.
#pragma once

#include "recording/run.h"

namespace plateau {

// A stretch of the run over which the floor behaved one way.
struct Phase {
  double from_step = 0;
  double to_step = 0;
  double from_mb = 0;
  double to_mb = 0;
  double rate_mb_per_step = 0;
};

struct TimedValue {
  double at = 0;  // On the run's clock.
  double mb = 0;
};

struct PlotPoint {
  double step = 0;
  double mb = 0;
  bool spike = false;  // Belongs to the spike channel, not to the floor.
};

struct PlotMark {
  double step = 0;
  EventKind kind = EventKind::mark;
};

}  // namespace plateau
