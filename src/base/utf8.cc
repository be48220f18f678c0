// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

namespace plateau {
namespace {

bool is_code_point(char32_t value) {
  return value <= 0x10FFFF && (value < 0xD800 || value > 0xDFFF);
}

// Length that the lead byte announces; 0 if it cannot lead.
size_t announced_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

}  // namespace

CodePoint decode_utf8(std::string_view text) {
  constexpr CodePoint kBad = {.value = kReplacementCharacter, .bytes = 1, .valid = false};
  // The smallest value that needs 1, 2, 3, 4 bytes: anything below it is an overlong form.
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const auto lead = static_cast<unsigned char>(text.front());
  const size_t length = announced_length(lead);
  if (length == 0 || length > text.size()) return kBad;
  char32_t value = length == 1 ? lead : lead & (0xFFU >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0U) != 0x80) return kBad;
    value = (value << 6U) | (byte & 0x3FU);
  }
  if (value < kSmallest[length] || !is_code_point(value)) return kBad;
  return {.value = value, .bytes = length, .valid = true};
}

void append_utf8(std::string& out, char32_t value) {
  if (!is_code_point(value)) value = kReplacementCharacter;
  const auto put = [&out](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (value < 0x80) {
    put(value);
  } else if (value < 0x800) {
    put(0xC0 | (value >> 6U));
    put(0x80 | (value & 0x3FU));
  } else if (value < 0x10000) {
    put(0xE0 | (value >> 12U));
    put(0x80 | ((value >> 6U) & 0x3FU));
    put(0x80 | (value & 0x3FU));
  } else {
    put(0xF0 | (value >> 18U));
    put(0x80 | ((value >> 12U) & 0x3FU));
    put(0x80 | ((value >> 6U) & 0x3FU));
    put(0x80 | (value & 0x3FU));
  }
}

}  // namespace plateau
