// SPDX-License-Identifier: Apache-2.0
// The words between a training loop and the watcher: lines of text, one or several a datagram.
//
//   run total_steps=250 examples=663 batch=8 epoch_steps=83      facts by their keys, any of them
//   step 120 epoch=1.45                                          a step has ended
//   begin eval | end eval | begin save | end save                a phase; others are marks
//   gauge tensors.cpu 330                                        a count
//   mark checkpoint                                              an event; "eval", "checkpoint",
//                                                                "epoch" and "restart" have meaning
//   subscribe PATH                                               another watcher: send it all of
//   this
// A line may end in pid=N: the sender, where it is not the process the socket's credentials name;
// and in from=auto: it was learnt by our own module inside the job, and gives way to what the
// user's code says (precedence.h). Facts may have a source=WORDS, joined by '_', for the report.
// docs/formats/step-clock.md is the whole grammar. Unknown words and unknown keys are ignored, so
// that a newer client works with an older watcher.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "recording/facts.h"

namespace plateau {

struct StepWords {
  static constexpr std::string_view kSource = "the training loop";
  enum class Kind : uint8_t { run, step, begin, end, gauge, mark, subscribe };
  Kind kind = Kind::mark;
  int64_t step = -1;        // step
  double epoch = kMissing;  // step, if said
  std::string name;         // begin, end, gauge, mark; the path of subscribe
  double value = kMissing;  // gauge
  Context facts;            // run; all from one source, kSource if none was said
  bool from_auto = false;
  int64_t pid = -1;
  int64_t uid = -1;  // Of the sender, as the kernel tells it; not part of the line.
};

// nullopt for what is not one of these lines. At most 4 KB are looked at. Never throws.
std::optional<StepWords> parse_step_words(std::string_view line);

// The line that parse_step_words() reads back as `words`. Facts from several sources make as many
// lines, which a datagram may hold as well.
std::string format_step_words(const StepWords& words);

}  // namespace plateau
