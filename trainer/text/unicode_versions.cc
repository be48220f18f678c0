// SPDX-License-Identifier: Apache-2.0
#include "trainer/text/unicode_versions.h"

#include <algorithm>
#include <iterator>

namespace plateau::train {
namespace {

// Letters and numbers of Unicode 15.1 and 16, which Hugging Face's tokenizers knows and
// utf8proc 2.8 does not yet. By begin, rising.
struct NewRange {
  char32_t first;
  char32_t last;
  CharClass kind;
};
constexpr CharClass kLetter = CharClass::letter;
constexpr CharClass kNumber = CharClass::number;
constexpr NewRange kNewRanges[] = {
    {0x1C89, 0x1C8A, kLetter},   {0xA7CB, 0xA7CD, kLetter},   {0xA7DA, 0xA7DC, kLetter},
    {0x105C0, 0x105F3, kLetter}, {0x10D40, 0x10D49, kNumber}, {0x10D4A, 0x10D65, kLetter},
    {0x10D6F, 0x10D85, kLetter}, {0x10EC2, 0x10EC4, kLetter}, {0x11380, 0x11389, kLetter},
    {0x1138B, 0x1138B, kLetter}, {0x1138E, 0x1138E, kLetter}, {0x11390, 0x113B5, kLetter},
    {0x113B7, 0x113B7, kLetter}, {0x113D1, 0x113D1, kLetter}, {0x113D3, 0x113D3, kLetter},
    {0x116D0, 0x116E3, kNumber}, {0x11BC0, 0x11BE0, kLetter}, {0x11BF0, 0x11BF9, kNumber},
    {0x13460, 0x143FA, kLetter}, {0x16100, 0x1611D, kLetter}, {0x16130, 0x16139, kNumber},
    {0x16D40, 0x16D6C, kLetter}, {0x16D70, 0x16D79, kNumber}, {0x18CFF, 0x18CFF, kLetter},
    {0x1CCF0, 0x1CCF9, kNumber}, {0x1E5D0, 0x1E5ED, kLetter}, {0x1E5F0, 0x1E5F0, kLetter},
    {0x1E5F1, 0x1E5FA, kNumber}, {0x2EBF0, 0x2EE5D, kLetter},
};

// Marks, and all of some scripts that have characters which compose. By begin, rising.
struct InertRange {
  char32_t first;
  char32_t last;
};
constexpr InertRange kInertRanges[] = {
    {0x7FD, 0x7FD},     {0x897, 0x89F},     {0x8CA, 0x8D3},     {0x9FE, 0x9FE},
    {0xC3C, 0xC3C},     {0xD3B, 0xD3C},     {0xEBA, 0xEBA},     {0x1715, 0x1715},
    {0x1ABF, 0x1ADD},   {0x1AE0, 0x1AEB},   {0x1DF6, 0x1DFA},   {0xA82C, 0xA82C},
    {0x105C0, 0x105F3}, {0x10D24, 0x10D27}, {0x10D69, 0x10D6D}, {0x10EAB, 0x10EAC},
    {0x10EFA, 0x10EFB}, {0x10EFD, 0x10EFF}, {0x10F46, 0x10F50}, {0x10F82, 0x10F85},
    {0x11070, 0x11070}, {0x1133B, 0x1133B}, {0x11380, 0x113D3}, {0x1145E, 0x1145E},
    {0x11839, 0x1183A}, {0x11930, 0x11938}, {0x1193D, 0x1193E}, {0x11943, 0x11943},
    {0x119E0, 0x119E0}, {0x11A34, 0x11A34}, {0x11A47, 0x11A47}, {0x11A99, 0x11A99},
    {0x11D42, 0x11D42}, {0x11D44, 0x11D45}, {0x11D97, 0x11D97}, {0x11F41, 0x11F42},
    {0x16100, 0x16139}, {0x16D40, 0x16D6C}, {0x16FF0, 0x16FF1}, {0x1E08F, 0x1E08F},
    {0x1E130, 0x1E136}, {0x1E2AE, 0x1E2AE}, {0x1E2EC, 0x1E2EF}, {0x1E4EC, 0x1E4EF},
    {0x1E5EE, 0x1E5EF}, {0x1E6E3, 0x1E6E3}, {0x1E6E6, 0x1E6E6}, {0x1E6EE, 0x1E6EF},
    {0x1E6F5, 0x1E6F5},
};

}  // namespace

CharClass newer_char_class(char32_t value) {
  const NewRange* after =
      std::upper_bound(std::begin(kNewRanges), std::end(kNewRanges), value,
                       [](char32_t wanted, const NewRange& range) { return wanted < range.first; });
  if (after == std::begin(kNewRanges) || value > (after - 1)->last) return CharClass::other;
  return (after - 1)->kind;
}

bool is_inert_in_nfc(char32_t value) {
  const InertRange* after = std::upper_bound(
      std::begin(kInertRanges), std::end(kInertRanges), value,
      [](char32_t wanted, const InertRange& range) { return wanted < range.first; });
  return after != std::begin(kInertRanges) && value <= (after - 1)->last;
}

}  // namespace plateau::train
