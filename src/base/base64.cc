// SPDX-License-Identifier: Apache-2.0
#include "base/base64.h"

#include <array>
#include <cstdint>
#include <cstdio>

namespace plateau {
namespace {

constexpr uint8_t kSpace = 64;
constexpr uint8_t kPadding = 65;
constexpr uint8_t kBad = 66;

constexpr std::array<uint8_t, 256> kValues = [] {
  std::array<uint8_t, 256> values{};
  values.fill(kBad);
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < kAlphabet.size(); ++i) {
    values[static_cast<uint8_t>(kAlphabet[i])] = static_cast<uint8_t>(i);
  }
  for (const char space : {' ', '\t', '\r', '\n'}) values[static_cast<uint8_t>(space)] = kSpace;
  values[static_cast<uint8_t>('=')] = kPadding;
  return values;
}();

Error broken_text(const std::string& name, const std::string& what) {
  return {Error::Kind::bad_input, name + ": " + what};
}

Error bad_character(const std::string& name, char character, size_t at) {
  char shown[16];
  const bool is_plain = character > ' ' && character < '\x7f';
  std::snprintf(shown, sizeof shown, is_plain ? "'%c'" : "byte 0x%02x",
                static_cast<unsigned char>(character));
  return broken_text(
      name, std::string("not base64: ") + shown + " at position " + std::to_string(at + 1));
}

// The part after "data:image/png;base64,".
Result<std::string_view> payload(std::string_view text, const std::string& name) {
  if (!text.starts_with("data:")) return text;
  const size_t comma = text.find(',');
  if (comma == std::string_view::npos) {
    return broken_text(name, "a data: URL without a comma before its data");
  }
  if (!text.substr(0, comma).ends_with(";base64")) {
    return broken_text(name, "a data: URL whose data are not said to be base64");
  }
  return text.substr(comma + 1);
}

}  // namespace

Result<std::vector<std::byte>> decode_base64(std::string_view text, const std::string& name) {
  const Result<std::string_view> found = payload(text, name);
  if (!found) return found.error();
  const std::string_view data = found.value();
  std::vector<std::byte> bytes;
  bytes.reserve(data.size() / 4 * 3 + 3);
  uint32_t group = 0;
  int digits = 0;   // In the group so far.
  int padding = 0;  // At the end.
  for (size_t i = 0; i < data.size(); ++i) {
    const uint8_t value = kValues[static_cast<uint8_t>(data[i])];
    if (value == kSpace) continue;
    if (value == kPadding && digits + padding >= 2 && digits + padding < 4) {
      ++padding;
      continue;
    }
    if (value >= 64 || padding > 0) {
      return bad_character(name, data[i], i + (text.size() - data.size()));
    }
    group = group << 6 | value;
    if (++digits < 4) continue;
    for (const int shift : {16, 8, 0}) bytes.push_back(static_cast<std::byte>(group >> shift));
    group = 0;
    digits = 0;
  }
  if (digits == 0 && bytes.empty()) return broken_text(name, "the base64 data are empty");
  if (digits == 0) return bytes;
  if (digits + padding != 4) {
    return broken_text(name, "the base64 data are cut off: their length is no multiple of 4");
  }
  const uint32_t unused = digits == 2 ? 0xFU : 0x3U;
  if ((group & unused) != 0) {
    return broken_text(name, "the base64 data are broken: bits are left over at the end");
  }
  group <<= 6 * padding;
  for (int i = 0; i < digits - 1; ++i) {
    bytes.push_back(static_cast<std::byte>(group >> (16 - 8 * i)));
  }
  return bytes;
}

}  // namespace plateau
