// SPDX-License-Identifier: Apache-2.0
// Cuts text into the pieces that byte-pair merges never cross: words, digits, runs of punctuation,
// runs of white space.
//
// The pieces are those of one regular expression, which every Qwen2 tokenizer.json holds. It needs
// a look-ahead and Unicode classes, so that neither std::regex nor RE2 could run it; a scanner of
// seven rules does, in linear time.
#pragma once

#include <cstddef>
#include <string_view>

namespace plateau::train {

// Exactly as tokenizer.json spells it: by this string a file is known to be cut this way.
inline constexpr std::string_view kQwenPattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";

// Where the piece ends that begins at `begin`. Requires: `text` is valid UTF-8, and begin <
// text.size() is 0 or the end of a piece. Every byte belongs to a piece.
size_t piece_end(std::string_view text, size_t begin);

}  // namespace plateau::train
