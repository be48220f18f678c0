// SPDX-License-Identifier: Apache-2.0
// The 256 characters that stand for bytes in the vocabulary of a byte-level tokenizer.
//
// A vocabulary is JSON, which holds text, not bytes. So each byte has a visible character:
// printable ASCII and Latin-1 stand for themselves, the other 68 bytes for U+0100 and on. Byte 0x20
// is "Ġ".
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace plateau::train {

char32_t byte_character(uint8_t byte);

// "Ġthe" for " the".
std::string spelled(std::string_view bytes);

// " the" for "Ġthe"; nothing if a character stands for no byte.
std::optional<std::string> unspelled(std::string_view token);

// The bytes in the order in which vocabularies number them: first those that stand for themselves.
const std::array<uint8_t, 256>& byte_order();

}  // namespace plateau::train
