// SPDX-License-Identifier: Apache-2.0
// The sentences of the terminal report, one function a question. They format what the verdict
// holds; the only arithmetic is following a rate that the verdict gives to a limit it gives.
//
// Each returns "" when there is nothing to say. Requires: a printable verdict (see printable.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "verdict/verdict.h"

namespace plateau {

struct Labelled {
  std::string_view label;  // At most five letters: "Grew", "Level".
  std::string text;
};

// What memory did: grew and settled, grew and grows, stayed level, or cannot be told.
Labelled course_of(const Verdict& verdict);

// What will happen: where it stays, ends, or does not end, and what it will be at the planned end.
std::string outlook_of(const Verdict& verdict);

// Does it fit? Empty if no limit is known and none is needed.
std::string risk_of(const Verdict& verdict);

// Which process grows, and how much of the tree's growth is its.
std::string culprit_of(const Verdict& verdict);

// Spikes and sawtooth over the floor.
std::string peaks_of(const Verdict& verdict);

// "per-example cache (decoded data kept), 93 %: <evidence>".
std::string cause_sentence(const Cause& cause);

// Is what `text` says already said by `others`? True if nearly all of its words stand in them: the
// verdict words a cause and its evidence apart, and a reader wants each fact once.
bool already_said(std::string_view text, const std::vector<std::string>& others);

// With a capital and a full stop, as a sentence of its own.
std::string as_sentence(std::string text);

// Where an explanation leads: "level near 17.7 GB from step 83", "passes 20.0 GB at step 95".
std::string destination_of(const Verdict& verdict, const Explanation& explanation);

}  // namespace plateau
