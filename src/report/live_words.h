// SPDX-License-Identifier: Apache-2.0
// What the rows of a live screen say: figures and phrases, "-" or "" for what is not known, and
// pieces of text fitted into a width.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/live.h"

namespace plateau {

// "8.20 GB", "-" if it is not known.
std::string amount(double mb);
// "+1.20 GB", "-".
std::string signed_amount(double mb);
// "1,024", "-" if it is below 0.
std::string count_text(int64_t value);
// "98", "-" if it is not known.
std::string percent_text(double value);
// "0:12:34".
std::string hms(double seconds);
// "step 120/250", "step 120"; "" if there is no step.
std::string step_phrase(const LiveState& state);
// "+170 MB/step", what memory does now; "level" when it has settled or does not move.
std::string pace_phrase(const Verdict& verdict);
// "owned memory +170 MB/step", "level at 17.4 GB since step 83"; "" if nothing is known.
std::string movement_phrase(const Verdict& verdict);

// A piece of a row in one colour.
struct Piece {
  std::string text;
  Ink ink = Ink::plain;
};

// In the view's alphabet, cut to `width` columns with a mark where something was cut.
std::string fit(const View& view, std::string_view text, size_t width);
// In the view's alphabet and colour.
std::string ink(const View& view, Ink color, std::string_view text);
// Pieces with a dot between them, as many from the front as fit; the first is cut if it must be.
std::string joined(const View& view, const std::vector<Piece>& pieces, size_t width);

}  // namespace plateau
