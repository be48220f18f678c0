// SPDX-License-Identifier: Apache-2.0
// The paragraphs of the report that answer why and what next, for whoever lays them out.
//
// Requires: a printable verdict (see printable.h).
#pragma once

#include <string>
#include <vector>

#include "verdict/verdict.h"

namespace plateau {

struct Paragraph {
  std::string lead;  // "Confirm:", "Cause:"; may be empty.
  std::string text;  // With a full stop.
};

// "no leak · 99.9 %": the answer in words and its probability.
std::string answer_of(const Verdict& verdict);

// The causes, the likeliest first, then the evidence that course and causes do not tell yet.
std::vector<Paragraph> why_of(const Verdict& verdict);

// What will happen and what to do, the most useful first.
std::vector<Paragraph> next_of(const Verdict& verdict);

}  // namespace plateau
