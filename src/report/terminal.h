// SPDX-License-Identifier: Apache-2.0
// A verdict for a reader at a terminal: the answer first, then what happened, why, what next.
//
//   PLATEAU   no leak · 99.9 %
//     Grew  5.43 → 17.7 GB over steps 10–82 (+168 MB/step), level since: ...
//     Why   ...
//     Next  ...
//
// All text from the verdict is made harmless here; callers pass it as it came.
#pragma once

#include <string>

#include "report/text.h"
#include "verdict/verdict.h"

namespace plateau {

// The whole report, several lines, each ended by a newline.
std::string render_verdict(const Verdict& verdict, const View& view);

// The answer in one line, for earlier runs of a file and for -q:
//   PLATEAU    > 99.9 %  5.43 → 17.7 GB  no leak · run2.log · run 1 of 2
std::string render_line(const Verdict& verdict, const View& view);

// The first line alone: "PLATEAU   no leak · 99.9 %".
std::string render_headline(const Verdict& verdict, const View& view);

}  // namespace plateau
