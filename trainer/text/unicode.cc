// SPDX-License-Identifier: Apache-2.0
#include "trainer/text/unicode.h"

#include <simdjson.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/utf8.h"
#include "trainer/text/unicode_versions.h"

namespace plateau::train {
namespace {

// The property White_Space, which is what \s means in the pattern: neither the zero-width space
// (U+200B) nor the Mongolian vowel separator (U+180E) has it, and next line (U+0085) has.
bool is_white_space(char32_t value) {
  if (value <= 0x20) return value == 0x20 || (value >= 0x09 && value <= 0x0D);
  if (value < 0x1680) return value == 0x85 || value == 0xA0;
  return value == 0x1680 || (value >= 0x2000 && value <= 0x200A) || value == 0x2028 ||
         value == 0x2029 || value == 0x202F || value == 0x205F || value == 0x3000;
}

CharClass look_up(char32_t value) {
  if (value == '\r' || value == '\n') return CharClass::newline;
  if (is_white_space(value)) return CharClass::space;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(value))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return CharClass::letter;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return CharClass::number;
    case UTF8PROC_CATEGORY_CN:
      return newer_char_class(value);
    default:
      return CharClass::other;
  }
}

const std::array<CharClass, 128>& ascii_classes() {
  static const std::array<CharClass, 128> classes = [] {
    std::array<CharClass, 128> all{};
    for (size_t i = 0; i < all.size(); ++i) all[i] = look_up(static_cast<char32_t>(i));
    return all;
  }();
  return classes;
}

// Bytes at the front that are the begin of a character but not a whole one; at least 1, so that a
// byte that begins nothing counts by itself.
size_t bad_prefix(std::string_view text) {
  const auto byte = [&text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  size_t length = 1;
  // The second byte's bounds exclude overlong forms, surrogates and what lies past U+10FFFF.
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  }
  size_t taken = 1;
  while (taken < length && taken < text.size() && byte(taken) >= low && byte(taken) <= high) {
    low = 0x80;
    high = 0xBF;
    ++taken;
  }
  return taken;
}

// Every character apart from what it is composed of, marks in their canonical order.
std::vector<utf8proc_int32_t> decomposed(std::string_view text, utf8proc_option_t options) {
  struct Mark {
    utf8proc_int32_t value;
    utf8proc_propval_t order;
  };
  std::vector<utf8proc_int32_t> out;
  out.reserve(text.size());
  std::vector<Mark> marks;
  // Sorted once per run, because sorting while they come in takes quadratic time.
  const auto flush = [&] {
    std::stable_sort(marks.begin(), marks.end(),
                     [](const Mark& a, const Mark& b) { return a.order < b.order; });
    for (const Mark& mark : marks) out.push_back(mark.value);
    marks.clear();
  };
  while (!text.empty()) {
    const CodePoint point = decode_utf8(text);
    text.remove_prefix(point.bytes);
    std::array<utf8proc_int32_t, 32> parts{};
    const utf8proc_ssize_t count =
        utf8proc_decompose_char(static_cast<utf8proc_int32_t>(point.value), parts.data(),
                                static_cast<utf8proc_ssize_t>(parts.size()), options, nullptr);
    // No canonical decomposition has more than four characters.
    for (size_t i = 0; i < static_cast<size_t>(std::max<utf8proc_ssize_t>(count, 0)); ++i) {
      const utf8proc_propval_t order = utf8proc_get_property(parts[i])->combining_class;
      if (order == 0) {
        flush();
        out.push_back(parts[i]);
      } else {
        marks.push_back({.value = parts[i], .order = order});
      }
    }
  }
  flush();
  return out;
}

void append_composed(std::string_view text, std::string& out) {
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
  std::vector<utf8proc_int32_t> points = decomposed(text, options);
  const utf8proc_ssize_t count = utf8proc_normalize_utf32(
      points.data(), static_cast<utf8proc_ssize_t>(points.size()), options);
  for (size_t i = 0; i < static_cast<size_t>(std::max<utf8proc_ssize_t>(count, 0)); ++i) {
    append_utf8(out, static_cast<char32_t>(points[i]));
  }
}

}  // namespace

CharClass char_class(char32_t value) {
  return value < 128 ? ascii_classes()[value] : look_up(value);
}

ClassedChar char_at(std::string_view text, size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  if (lead < 128) return {.value = lead, .bytes = 1, .kind = ascii_classes()[lead]};
  const CodePoint point = decode_utf8(text.substr(at));
  return {.value = point.value, .bytes = point.bytes, .kind = look_up(point.value)};
}

std::string to_valid_utf8(std::string_view text) {
  if (simdjson::validate_utf8(text.data(), text.size())) return std::string(text);
  std::string out;
  out.reserve(text.size() + 8);
  while (!text.empty()) {
    const CodePoint point = decode_utf8(text);
    append_utf8(out, point.value);
    text.remove_prefix(point.valid ? point.bytes : bad_prefix(text));
  }
  return out;
}

std::string to_nfc(std::string_view text) {
  // Below U+0300, whose first byte is 0xCC, every character is composed and combines with none.
  const bool is_plain = std::all_of(text.begin(), text.end(),
                                    [](char c) { return static_cast<unsigned char>(c) < 0xCC; });
  if (is_plain) return std::string(text);
  std::string out;
  out.reserve(text.size());
  // What the normaliser does not know combines with nothing, neither before nor behind it.
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = decode_utf8(text.substr(at));
    if (is_inert_in_nfc(point.value)) {
      append_composed(text.substr(begin, at - begin), out);
      append_utf8(out, point.value);
      begin = at + point.bytes;
    }
    at += point.bytes;
  }
  append_composed(text.substr(begin), out);
  return out;
}

}  // namespace plateau::train
