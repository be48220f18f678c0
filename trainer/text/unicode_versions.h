// SPDX-License-Identifier: Apache-2.0
// Where Hugging Face's tokenizers knows another Unicode than utf8proc does.
//
// Ids must be equal to theirs, so their versions hold: pattern classes of Unicode 16, normalisation
// of Unicode 9. utf8proc 2.8 has Unicode 15 for both. Found by asking them about every code point;
// the test oracle.tokenizer asks about these ranges again.
#pragma once

#include "trainer/text/unicode.h"

namespace plateau::train {

// Of a character that utf8proc takes for unassigned: letter or number for those of Unicode 15.1 and
// 16, other for the rest.
CharClass newer_char_class(char32_t value);

// Whether the character came after Unicode 9 and would otherwise be moved, composed or decomposed.
bool is_inert_in_nfc(char32_t value);

}  // namespace plateau::train
