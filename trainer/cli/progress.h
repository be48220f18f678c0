// SPDX-License-Identifier: Apache-2.0
// The one line that says how far a run is, in as many columns as there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace plateau::train {

struct Progress {
  int64_t step = 0;
  int64_t total_steps = 0;
  double loss = 0;
  double steps_per_second = 0;  // 0: not known yet.
  double resident_mb = 0;
  std::string verdict;  // One word; empty: none yet.
};

// "[####....] 12/80  loss 3.4087  1.8 steps/s  37 s left  214 MB  plateau", at most `width`
// columns. What a narrow line leaves out, in this order: half of the bar, the bar, the rate, the
// verdict, the time that is left, the memory. Step and loss stay, cut off if need be. Slow steps
// are shown as "12 s/step", because "0.1 steps/s" tells nothing. No control characters.
std::string progress_line(const Progress& progress, size_t width);

}  // namespace plateau::train
