// SPDX-License-Identifier: Apache-2.0
#include "page/pack.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/utf8.h"

namespace plateau {

std::string base64_of(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t have = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t b = 0; b < 3; ++b) {
      group = group << 8 | (b < have ? static_cast<unsigned char>(bytes[i + b]) : 0u);
    }
    for (size_t d = 0; d < 4; ++d) {
      out += d <= have ? kDigits[group >> (18 - 6 * d) & 63] : '=';
    }
  }
  return out;
}

std::string html_escaped(std::string_view text) {
  constexpr std::u32string_view kMarkup = U"&<>\"'";
  constexpr std::array<std::string_view, kMarkup.size()> kEntities = {"&amp;", "&lt;", "&gt;",
                                                                      "&quot;", "&#39;"};
  std::string out;
  out.reserve(text.size() + text.size() / 8);
  while (!text.empty()) {
    CodePoint point = decode_utf8(text);
    text.remove_prefix(point.bytes);
    // No characters, and XML has no place for them.
    if (point.value == 0xFFFE || point.value == 0xFFFF) point.value = kReplacementCharacter;
    const size_t markup = kMarkup.find(point.value);
    const bool control = point.value < 0x20 || (point.value >= 0x7F && point.value < 0xA0);
    if (markup != std::u32string_view::npos) {
      out += kEntities[markup];
    } else if (!control || point.value == U'\n' || point.value == U'\t') {
      append_utf8(out, point.value);
    }
  }
  return out;
}

}  // namespace plateau
