// SPDX-License-Identifier: Apache-2.0
// What the job said about memory before it ended, with what it held at that moment.
//
// Recordings and logs hold the words as events of kind `oom` (recording/last_words.h). Whether they
// are what ended the job is told by what came after:
//   - two steps or more: it went on, whatever it printed (a warning, a retry, an old log);
//   - exit code 0: nothing ended it;
//   - without steps, more than a minute of a job that is not known to have ended, or half an hour
//   of
//     one that is: a rank may wait ten minutes for another that has died.
// Worked case: "CUDA out of memory" in the row of step 40 and a last row at step 41, exit code 1,
// are last words; with a last row at step 90 they are something said at step 40.
//
// Blind spot: a job that catches the error, saves and ends with an error of its own within two
// steps is told as if the message had ended it; it is close to the truth.
#pragma once

#include "verdict/case_file.h"

namespace plateau {

// Puts the last words first among the evidence, or what was said and survived last. Words and
// confidence do not depend on it.
void add_said(const CaseFile& file, Verdict& verdict);

}  // namespace plateau
