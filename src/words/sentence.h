// SPDX-License-Identifier: Apache-2.0
// Sentences made from templates, in which every number still knows what it is.
//
// A sentence is a list of fragments: plain words, and figures with the key of docs/report-fields.md
// that explains them. The terminal joins them; the page links each figure to its
// explanation, without looking for digits in prose.
//
// A template is text with slots:
//   {name}         the value of that name, formatted by its unit
//   {a>b}          from a to b, the unit once: "5.43 → 17.7 GB"
//   {a-b}          a range, the unit once: "17.2–17.7 GB"
//   {name:x|y}     x if the number is 1, else y: "{spikes} spike{spikes:|s}"; # is the number
//   itself [ ... ]        left out if a slot directly in it has no value; may be nested
// Worked case: "{first_mb>last_mb} by {step}[, limit {limit_mb}]" with 900 and 1200 MB and step 40,
// and no limit, gives "900 MB → 1.20 GB by step 40".
//
// Blind spot: a slot outside of brackets whose value is missing is told as "?"; the test of the
// table of findings looks for that.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "verdict/finding.h"
#include "verdict/verdict.h"

namespace plateau {

struct Fragment {
  std::string text;
  std::string_view field;  // Key of docs/report-fields.md; empty for plain words.
};
using Sentence = std::vector<Fragment>;

std::string plain(const Sentence& sentence);

// A value ready to be told, under the name by which a template asks for it.
struct Slot {
  std::string_view name;
  std::string text;
  std::string_view field;
};

// What the words of a finding depend on beside it.
struct Telling {
  Clock clock = Clock::steps;
  std::span<const Explanation> explanations;  // Looked up for names of kind `explanation`.
  bool counts = false;                        // Amounts are counts of objects, not memory.
};

// The template with its slots filled.
Sentence fill(std::string_view pattern, const std::vector<Slot>& slots);
Sentence fill(std::string_view pattern, const Finding& finding, const Telling& telling);

// "bounded cache, full at step 83".
std::string explanation_phrase(const Explanation& explanation, Clock clock);

// Appends, with a space between where both have text.
void append(Sentence& sentence, const Sentence& more);

// With a capital and a full stop, as a sentence of its own.
Sentence as_sentence(Sentence sentence);

// With a full stop, if it does not end in a mark of its own. Requires: not empty.
Sentence ended(Sentence sentence);

// Without either, to stand within another sentence.
Sentence as_clause(Sentence sentence);

}  // namespace plateau
