// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal_keys.h"

#include <array>

#include "base/utf8.h"

namespace plateau {
namespace {

constexpr char kEscape = '\x1b';
// No key is longer; a longer sequence is noise, and waiting for its end would swallow real keys.
constexpr size_t kLongest = 32;

struct Decoded {
  Key key;
  size_t bytes = 0;  // 0: not whole yet.
};

Key named(Key::Kind kind) {
  return {kind, 0};
}

// By the last byte of the sequence: "\x1b[A", "\x1bOA", "\x1b[1;5A".
Key key_of_letter(char last) {
  constexpr std::string_view kLetters = "ABCDHF";
  constexpr std::array<Key::Kind, kLetters.size()> kKinds = {Key::Kind::up,    Key::Kind::down,
                                                             Key::Kind::right, Key::Kind::left,
                                                             Key::Kind::home,  Key::Kind::end};
  const size_t at = kLetters.find(last);
  return at == std::string_view::npos ? Key() : named(kKinds[at]);
}

// "\x1b[5~", "\x1b[5;2~": by the first number.
Key key_of_number(std::string_view parameters) {
  const std::string_view number = parameters.substr(0, parameters.find(';'));
  if (number == "1" || number == "7") return named(Key::Kind::home);
  if (number == "4" || number == "8") return named(Key::Kind::end);
  if (number == "5") return named(Key::Kind::page_up);
  if (number == "6") return named(Key::Kind::page_down);
  return {};
}

// "\x1b[" parameters, intermediates and a last byte.
Decoded decode_sequence(std::string_view bytes) {
  for (size_t i = 2; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if (byte >= 0x40 && byte <= 0x7E) {
      const std::string_view parameters = bytes.substr(2, i - 2);
      return {byte == '~' ? key_of_number(parameters) : key_of_letter(bytes[i]), i + 1};
    }
    // A byte that cannot be part of it ends it, and starts something new.
    if (byte < 0x20 || byte > 0x7E) return {{}, i};
  }
  return bytes.size() >= kLongest ? Decoded{{}, bytes.size()} : Decoded{};
}

Decoded decode_escape(std::string_view bytes) {
  if (bytes.size() == 1) return {};
  if (bytes[1] == '[') return decode_sequence(bytes);
  if (bytes[1] == 'O') {
    if (bytes.size() == 2) return {};
    // The keypad's enter is an M here, while "\x1b[M" would be a mouse.
    const Key key = bytes[2] == 'M' ? named(Key::Kind::enter) : key_of_letter(bytes[2]);
    if (key.kind != Key::Kind::unknown) return {key, 3};
  }
  // The escape key, and another right behind it.
  return {named(Key::Kind::escape), 1};
}

Decoded decode_control(char byte) {
  if (byte == '\r' || byte == '\n') return {named(Key::Kind::enter), 1};
  if (byte == '\t') return {named(Key::Kind::tab), 1};
  if (byte == '\b' || byte == '\x7f') return {named(Key::Kind::backspace), 1};
  return {byte == '\x03' ? named(Key::Kind::interrupt) : Key(), 1};
}

// Bytes that the lead byte of a character announces; 1 for what leads nothing.
size_t announced(unsigned char lead) {
  if (lead >= 0xF0 && lead < 0xF8) return 4;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  return lead >= 0xC2 && lead < 0xE0 ? 2 : 1;
}

bool may_be_whole_later(std::string_view bytes) {
  if (bytes.size() >= announced(static_cast<unsigned char>(bytes[0]))) return false;
  for (const char byte : bytes.substr(1)) {
    if ((static_cast<unsigned char>(byte) & 0xC0U) != 0x80U) return false;
  }
  return true;
}

Decoded decode(std::string_view bytes) {
  const char first = bytes.front();
  if (first == kEscape) return decode_escape(bytes);
  // As a number: whether a plain char has a sign is the processor's.
  if (static_cast<unsigned char>(first) < 0x20 || first == '\x7f') return decode_control(first);
  const CodePoint point = decode_utf8(bytes);
  if (point.valid) return {{Key::Kind::character, point.value}, point.bytes};
  return may_be_whole_later(bytes) ? Decoded{} : Decoded{{}, 1};
}

}  // namespace

std::optional<Key> KeyDecoder::next() {
  if (bytes_.empty()) return std::nullopt;
  const Decoded decoded = decode(bytes_);
  if (decoded.bytes == 0) return std::nullopt;
  bytes_.erase(0, decoded.bytes);
  return decoded.key;
}

std::optional<Key> KeyDecoder::flush() {
  if (std::optional<Key> key = next()) return key;
  if (bytes_.empty()) return std::nullopt;
  const bool escape = bytes_ == "\x1b";
  // Half a sequence or half a character: one key that means nothing.
  bytes_.clear();
  return escape ? named(Key::Kind::escape) : Key{};
}

}  // namespace plateau
