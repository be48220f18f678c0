// SPDX-License-Identifier: Apache-2.0
// A verdict in words, one function a question: what happened, what will, does it fit, who is it.
//
// They format what the verdict holds; the only arithmetic is following a rate that the verdict
// gives to a limit it gives. Each returns nothing where there is nothing to say.
// Requires: a printable verdict (see report/printable.h).
#pragma once

#include <string>
#include <string_view>

#include "words/sentence.h"

namespace plateau {

struct Labelled {
  std::string_view label;  // At most five letters: "Grew", "Level".
  Sentence text;
};

// "no leak", "growth that no bounded explanation fits": the word as an answer.
std::string headline_of(const Verdict& verdict);

// "no leak · 99.9 %": the answer and its probability.
std::string answer_of(const Verdict& verdict);

// What memory did: grew and settled, grew and grows, stayed level, or cannot be told.
Labelled course_of(const Verdict& verdict);

// What will happen: where it stays, ends, or does not end, and what it will be at the planned end.
Sentence outlook_of(const Verdict& verdict);

// Does it fit? Empty if no limit is known and none is needed.
Sentence risk_of(const Verdict& verdict);

// Which process grows, and how much of the tree's growth is its.
Sentence culprit_of(const Verdict& verdict);

// Spikes and sawtooth over the floor.
Sentence peaks_of(const Verdict& verdict);

// Where an explanation leads: "level near 17.7 GB from step 83", "passes 20.0 GB at step 95".
std::string destination_of(const Verdict& verdict, const Explanation& explanation);

}  // namespace plateau
