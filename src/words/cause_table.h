// SPDX-License-Identifier: Apache-2.0
// The causes in words: title, the experiment that would prove one, and the fix. Which causes there
// are and how they are ranked is the verdict's (src/verdict/causes.cc), under the same ids.
#pragma once

#include <string_view>

#include "verdict/verdict.h"

namespace plateau {

struct CauseWords {
  std::string_view name;     // Stable id: "per-example-cache".
  std::string_view title;    // "per-example cache (decoded data kept)".
  std::string_view confirm;  // One experiment, without a full stop.
  std::string_view fix;      // Without a full stop.
  std::string_view again;    // `confirm` for a job that has ended, where that is another one.

  // The experiment that is still possible.
  [[nodiscard]] std::string_view experiment(bool over) const {
    return over && !again.empty() ? again : confirm;
  }
};

// The row of that id; one of empty texts if there is none.
const CauseWords& cause_words(std::string_view name);
// The same in words that fit the run: batches, shapes and steps are a training job's, and a run
// that has neither steps nor epochs is told without them.
const CauseWords& cause_words(std::string_view name, const Verdict& verdict);

}  // namespace plateau
