// SPDX-License-Identifier: Apache-2.0
#include "trainer/text/byte_alphabet.h"

#include "base/utf8.h"

namespace plateau::train {
namespace {

constexpr char32_t kFirstSubstitute = 0x100;
constexpr size_t kSubstitutes = 68;

constexpr bool stands_for_itself(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

struct Alphabet {
  std::array<char32_t, 256> characters{};
  std::array<uint8_t, kSubstitutes> substituted{};
  std::array<uint8_t, 256> order{};
};

constexpr Alphabet make_alphabet() {
  Alphabet made;
  size_t substitutes = 0;
  size_t at = 0;
  for (unsigned byte = 0; byte < 256; ++byte) {
    if (stands_for_itself(byte)) {
      made.characters[byte] = byte;
      made.order[at++] = static_cast<uint8_t>(byte);
    } else {
      made.characters[byte] = kFirstSubstitute + static_cast<char32_t>(substitutes);
      made.substituted[substitutes++] = static_cast<uint8_t>(byte);
    }
  }
  for (const uint8_t byte : made.substituted) made.order[at++] = byte;
  return made;
}

constexpr Alphabet kAlphabet = make_alphabet();

}  // namespace

char32_t byte_character(uint8_t byte) {
  return kAlphabet.characters[byte];
}

std::string spelled(std::string_view bytes) {
  std::string out;
  for (const char byte : bytes) append_utf8(out, byte_character(static_cast<uint8_t>(byte)));
  return out;
}

std::optional<std::string> unspelled(std::string_view token) {
  std::string out;
  while (!token.empty()) {
    const CodePoint point = decode_utf8(token);
    token.remove_prefix(point.bytes);
    if (point.valid && point.value < 256 && stands_for_itself(point.value)) {
      out.push_back(static_cast<char>(point.value));
    } else if (point.valid && point.value >= kFirstSubstitute &&
               point.value < kFirstSubstitute + kSubstitutes) {
      out.push_back(static_cast<char>(kAlphabet.substituted[point.value - kFirstSubstitute]));
    } else {
      return std::nullopt;
    }
  }
  return out;
}

const std::array<uint8_t, 256>& byte_order() {
  return kAlphabet.order;
}

}  // namespace plateau::train
