// SPDX-License-Identifier: Apache-2.0
// Every answer of a form-reading model has the same brackets and keys; a loss that averages over
// them is small before the model has read a single value. So tokens that only repeat the form can
// be left out.
//
// The question is which. Word lists do not know: "type" may be a key or what somebody wrote. Here
// the answer is parsed, each byte gets its class, and a token is left out only if all of its bytes
// are of classes that are: a token such as `": "` goes, one such as ` "Paris` stays.
//
// Worked case, level keys, Qwen2.5: {"city": "Paris"} is the tokens {" city ": " Paris "} of which
// all but Paris are left out; the end of the turn after them is always learned.
//
// Blind spot: a token over a border teaches the form along with the value. That errs on the side of
// learning.
#include "trainer/text/selective_loss.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"
#include "base/utf8.h"
#include "trainer/text/json_spans.h"
#include "trainer/text/unicode.h"

namespace plateau::train {
namespace {

constexpr std::array<std::string_view, 28> kSchemaWords = {
    "$schema",     "$id",      "$ref",       "$defs",       "definitions",
    "type",        "items",    "properties", "required",    "additionalProperties",
    "enum",        "const",    "anyOf",      "oneOf",       "allOf",
    "not",         "minimum",  "maximum",    "minLength",   "maxLength",
    "pattern",     "minItems", "maxItems",   "uniqueItems", "format",
    "description", "default",  "examples"};
constexpr std::array<std::string_view, 7> kTypeWords = {"object",  "array",   "string", "number",
                                                        "integer", "boolean", "null"};

bool is_left_out(JsonClass kind, LossLevel level) {
  switch (kind) {
    case JsonClass::structure:
      return true;
    case JsonClass::key:
      return level == LossLevel::keys || level == LossLevel::literals;
    case JsonClass::literal:
      return level == LossLevel::literals;
    case JsonClass::number:
    case JsonClass::string:
      return false;
  }
  return false;
}

// What Python's strip() removes: white space and the four separators before it.
bool is_stripped(char32_t value) {
  const CharClass kind = char_class(value);
  return kind == CharClass::space || kind == CharClass::newline || (value >= 0x1C && value <= 0x1F);
}

// Part of a word to a regular expression's \b.
bool is_word_character(char32_t value) {
  const CharClass kind = char_class(value);
  return value == '_' || kind == CharClass::letter || kind == CharClass::number;
}

// Whether `word` is in `text` with a border at both ends. A border lies where one side is part of a
// word and the other is not: "$ref" needs a letter before it, a defect that is kept.
bool has_word(std::u32string_view text, std::string_view word) {
  const std::u32string wanted(word.begin(), word.end());
  const auto is_border = [text](size_t at) {
    const bool before = at > 0 && is_word_character(text[at - 1]);
    const bool after = at < text.size() && is_word_character(text[at]);
    return before != after;
  };
  for (size_t at = text.find(wanted); at != std::u32string_view::npos;
       at = text.find(wanted, at + 1)) {
    if (is_border(at) && is_border(at + wanted.size())) return true;
  }
  return false;
}

std::u32string points_of(std::string_view valid) {
  std::u32string points;
  while (!valid.empty()) {
    const CodePoint point = decode_utf8(valid);
    points.push_back(point.value);
    valid.remove_prefix(point.bytes);
  }
  return points;
}

}  // namespace

bool is_left_out_by_compat(std::string_view token_bytes) {
  const std::u32string all = points_of(to_valid_utf8(token_bytes));
  std::u32string_view text = all;
  while (!text.empty() && is_stripped(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_stripped(text.back())) text.remove_suffix(1);
  if (text.empty()) return true;
  constexpr std::u32string_view kPunctuation = U"{}[]:,\" \n\t\r";
  if (all.find_first_not_of(kPunctuation) == std::u32string::npos) return true;
  const auto is_in_text = [text](std::string_view word) { return has_word(text, word); };
  if (std::any_of(kSchemaWords.begin(), kSchemaWords.end(), is_in_text)) return true;
  std::string plain;
  for (const char32_t value : text) append_utf8(plain, value);
  return std::any_of(kTypeWords.begin(), kTypeWords.end(),
                     [&](std::string_view word) { return equal_ignoring_case(plain, word); });
}

std::vector<bool> tokens_left_out(const Tokenizer::Encoded& encoded, size_t answer_begin,
                                  LossLevel level) {
  std::vector<bool> out(encoded.tokens.size(), false);
  if (level == LossLevel::all) return out;
  const std::string_view text = encoded.text;
  std::vector<bool> bytes(text.size(), false);
  if (level != LossLevel::compat) {
    const auto spans = json_spans(text.substr(std::min(answer_begin, text.size())));
    if (!spans) return out;
    for (const JsonSpan& span : *spans) {
      if (!is_left_out(span.kind, level)) continue;
      std::fill(bytes.begin() + static_cast<ptrdiff_t>(answer_begin + span.begin),
                bytes.begin() + static_cast<ptrdiff_t>(answer_begin + span.end), true);
    }
  }
  for (size_t i = 0; i < out.size(); ++i) {
    const Token& token = encoded.tokens[i];
    if (token.begin < answer_begin) continue;
    if (level == LossLevel::compat) {
      out[i] = is_left_out_by_compat(text.substr(token.begin, token.end - token.begin));
    } else {
      const auto begin = bytes.begin() + static_cast<ptrdiff_t>(token.begin);
      out[i] = std::all_of(begin, begin + static_cast<ptrdiff_t>(token.end - token.begin),
                           [](bool is_out) { return is_out; });
    }
  }
  return out;
}

}  // namespace plateau::train
