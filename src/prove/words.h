// SPDX-License-Identifier: Apache-2.0
// What the module inside a job says while `plateau prove` runs, as values.
//
// The step clock carries them as marks (docs/formats/step-clock.md), so the grammar of the socket
// needs no new word:
//   mark prove design mode=index size=12 lag=0 ahead=4 batch=8 examples=663 read=pss rank=0
//   mark prove at=37 kind=N block=3 place=5 size=12 mb=812.345
//   mark prove skipped saves=4
//   mark prove acted times=16
//   mark prove idle block=3
//   mark prove wrote files=2 runs/log.txt
//   mark prove refused TEXT
//   mark prove over at=120
// docs/prove.md says what each means. Unknown keys are ignored, and what lacks a key is no line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace plateau {

// Memory of the job after `at` batches, the last of them number `place` of block `block`.
struct ProveState {
  int64_t at = 0;
  char kind = '-';  // W warm-up, N new, R again, A without and B with a factor, - none of these.
  int64_t block = 0;
  int64_t place = 0;
  int64_t size = 0;  // Batches of the block.
  double mb = 0;
};

struct ProveDesign {
  bool stream = false;   // Batches are served again, not indices: the dataset does not run twice.
  int64_t size = 0;      // Batches of a block.
  int64_t lag = 0;       // Batches that were handed out and not yet trained on.
  int64_t ahead = 0;     // Batches on their way from the workers.
  int64_t batch = 1;     // Examples of a batch.
  int64_t examples = 0;  // Of the dataset; 0 if that is not known.
  std::string read;      // "pss" or "rss".
  std::string rank;      // "-" if there is one process only.
};

struct ProveSkipped {
  int64_t saves = 0;
};
// Calls that a factor has left out.
struct ProveActed {
  int64_t times = 0;
};
// A block in which the optimizer did not step as its batches call for: an evaluation took them.
struct ProveIdle {
  int64_t block = 0;
};
// Files that the job has opened for writing by itself, which nobody holds back.
struct ProveWrote {
  int64_t files = 0;
  std::string last;  // The last of them.
};
struct ProveRefused {
  std::string why;
};
struct ProveOver {
  int64_t at = 0;
};

using ProveWords = std::variant<ProveState, ProveDesign, ProveSkipped, ProveActed, ProveIdle,
                                ProveWrote, ProveRefused, ProveOver>;

// Of the text of a mark. nullopt for marks that are not ours. Never throws.
std::optional<ProveWords> parse_prove_words(std::string_view mark);

}  // namespace plateau
