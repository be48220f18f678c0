// SPDX-License-Identifier: Apache-2.0
// Which of a job's complaints about memory become events of its recording.
//
// The first of each kind does at once. A job that prints the same one a million times fills no
// recording with it: of those that follow, the latest is kept, and becomes an event when a pause
// has passed that doubles with each: a second, two, four, … What was said in the last ten seconds
// of a job is always among its events: those are the words it died with.
//
// Without a clock of its own. Texts are redacted and bounded when they are handed out, not when
// they are heard, so that a million of them cost little.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "recording/last_words.h"

namespace plateau {

class Heard {
 public:
  // `text` holds last words.
  void hear(std::string_view text, double at_s);

  // The text of the next event that is due, if any; `last`: the job has ended.
  std::optional<std::string> take(double at_s, bool last);

 private:
  struct OfKind {
    std::string waiting;  // The latest that was heard; empty if there is none.
    double heard_s = 0;
    double next_s = 0;  // No event before.
    double pause_s = 1;
  };
  std::array<OfKind, kLastWordsKinds> kinds_;
};

}  // namespace plateau
