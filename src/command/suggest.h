// SPDX-License-Identifier: Apache-2.0
// Did you mean ...?
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace plateau {

// Insertions, deletions, substitutions and swaps of neighbours that turn one into the other.
size_t edit_distance(std::string_view a, std::string_view b);

// " (did you mean 'judge'?)" for the nearest candidate within a third of the word's length (at
// least one edit) or that begins with the word; else "".
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

}  // namespace plateau
