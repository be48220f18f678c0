// SPDX-License-Identifier: Apache-2.0
// What a run looks like apart from which shape fits it best: the traits that odds.h judges by.
//
// Each is a plain number without a unit, so that a run of 20 MB and one of 20 GB are seen alike.
#pragma once

#include "verdict/decision.h"

namespace plateau {

struct Traits {
  double evidence =
      0;  // Log odds of a leak by the shapes alone, camps even; within +-kMostEvidence.
  double past_deadline = 0;  // Log of the clock now over the warm-up deadline.
  double epochs = 0;         // Log of the first pass's share of the run seen; 0 where unknown.
  bool epoch_known = false;
  double samples = 0;       // Log of their number over 50.
  double recent = 0;        // Share of all the rise between quarters that came last; a line: 1/3.
  double recent_half = 0;   // Rise of the second half over that of both; a line: 1/2.
  double falls = 0;         // Share of the floors' ups and downs that are downs.
  double largest_jump = 0;  // The largest step up between two floors, as a share of the range.
  double top_three = 0;     // The three largest, together.
  double growth = 0;        // Log of the range over the level.
  double steepness = 0;     // Log of the range over the usual step between floors.
  double at_events = 0;     // Share of the endless weight that goes by events.
  double late = 0;          // Share of the endless weight that begins late or after something else.
  double teeth = 0;         // Height of the teeth over the range of the floors, at most 1.
  double spikes = 0;        // Spikes per sample.
  double at_high = 0;       // The last floor's place in the range.
  bool in_seconds = false;
};

inline constexpr double kMostEvidence = 14;  // What lies farther is dropped by posterior.h.

// Requires: a decision with a posterior.
Traits traits_of(const Decision& decision, const Timeline& timeline);

}  // namespace plateau
