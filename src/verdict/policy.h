// SPDX-License-Identifier: Apache-2.0
// The choices in a verdict that are no statistics.
#pragma once

#include <cstddef>

namespace plateau {

// The one place of the trade-off between a false alarm and a missed leak. See docs/policy.md.
struct Policy {
  // `leak` takes all that is believed (decision.h) but this; how often it errs is measured:
  // docs/accuracy.md.
  double false_leak = 0.20;
  // `plateau` and `warming` take all weight but this, at the base rate of leaks.
  double false_plateau = 0.07;
  // At how many first epochs steady growth is a leak rather than a cache that is still filling. 1
  // is when every example has been seen once; some caches take longer, and most of those are full
  // before the second pass ends. Only this separates a slow cache from a leak: see shapes.h.
  double warmup_epochs = 1.75;
  // The same where new examples are counted as they are loaded, and none has come for a while: then
  // it is known that every example has been seen (examples_seen.h).
  double warmup_counted = 1.15;

  // Knobs of the method itself, turned only by the accuracy benchmark to show that no verdict hangs
  // on them.
  struct Tuning {
    size_t floors = 28;      // At most kMaxFloors.
    int scaled_family = -1;  // Multiplies the prior weight of one family of shapes ...
    double scale = 1;        // ... by this.
  } tuning;
};

}  // namespace plateau
