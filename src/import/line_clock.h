// SPDX-License-Identifier: Apache-2.0
// Reads steps, epochs and events off a job's own output, line by line, as it comes.
//
// The same eyes as the text log reader's (text_scan.h), for lines that need not hold any memory:
// "Step 120: loss 0.3", " 48%|####  | 120/250 [01:10<01:15]", "{'loss': 0.3, 'epoch': 1.45}".
// A word for step beats one for iteration, which beats a progress bar, which beats one for batch;
// among bars the one with the largest total is the training's (evaluation shows its own, shorter
// one). A position that starts again, per epoch, is counted on. Epochs are understood as in a log
// (log_clock.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "import/log_clock.h"
#include "import/scan_cache.h"
#include "import/text_context.h"
#include "recording/run.h"

namespace plateau {

class LineClock {
 public:
  struct News {
    int64_t step = -1;        // The position now, counted on over epochs; -1 if the line has none.
    double epoch = kMissing;  // In which the line stands; a whole one only where there is a step.
    std::vector<std::pair<FactField, double>> facts;
    std::vector<EventKind> events;
    std::string said;  // What the job said when it got no memory (recording/last_words.h), raw.
  };

  // One line without its end.
  News read(std::string_view line);

 private:
  enum class Kind : uint8_t { none, batch, bar, iteration, step };

  int64_t position(Kind kind, int64_t at, int64_t total);

  ScanCache cache_;
  TextContext context_;
  Kind kind_ = Kind::none;  // The best kind of position seen so far.
  int64_t total_ = 0;       // Of the bar that counts.
  Unroller steps_{Unroller::Back::same_run};
  LineEpoch epoch_;
  size_t lines_ = 0;
  size_t eval_line_ = 0;  // Where an evaluation was announced; its facts are not the training's.
};

// Splits a byte stream at line feeds and carriage returns (progress bars redraw with the latter)
// and feeds a LineClock. Lines longer than 64 KB are cut.
class OutputClock {
 public:
  // News of all complete lines in `bytes`, those with nothing new left out.
  std::vector<LineClock::News> read(std::string_view bytes);
  // News of the last line, which has no end: nothing more will come.
  std::vector<LineClock::News> finish() { return read("\n"); }

 private:
  LineClock clock_;
  std::string partial_;
};

}  // namespace plateau
