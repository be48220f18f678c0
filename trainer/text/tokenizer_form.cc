// SPDX-License-Identifier: Apache-2.0
#include "trainer/text/tokenizer_form.h"

#include <fmt/format.h>

#include <initializer_list>
#include <string_view>

#include "base/json_writer.h"
#include "trainer/text/pretokenizer.h"

namespace plateau::train {
namespace {

using Complaint = std::optional<std::string>;
using simdjson::dom::element;
using simdjson::dom::object;

// For messages: what stands there, cut if it is long.
std::string shown(const element& value) {
  std::string text = simdjson::minify(value);
  constexpr size_t kLongest = 120;
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  // The cut may have gone through a character; quoting makes it whole, and its quotes go.
  const std::string quoted = json_quoted(text);
  return quoted.substr(1, quoted.size() - 2);
}

bool is_text(const element& value, std::string_view wanted) {
  std::string_view text;
  return value.get(text) == simdjson::SUCCESS && text == wanted;
}

bool is_false(const element& value) {
  bool truth = true;
  return value.get(truth) == simdjson::SUCCESS && !truth;
}

bool is_null_or_empty(const element& value) {
  return value.is_null() || is_text(value, "");
}

Complaint unknown_key(const object& from, std::string_view what,
                      std::initializer_list<std::string_view> known) {
  for (const auto& field : from) {
    bool is_known = false;
    for (const std::string_view name : known) is_known = is_known || field.key == name;
    if (!is_known) return fmt::format("{} has \"{}\", which is not understood", what, field.key);
  }
  return std::nullopt;
}

// That `from` is an object of `type`, where options that are given have a value for which `accepts`
// holds; options of other names are not looked at.
struct Option {
  std::string_view name;
  bool (*accepts)(const element&);
};
Complaint unlike(const simdjson::simdjson_result<element>& from, std::string_view what,
                 std::string_view type, std::initializer_list<Option> options) {
  object fields;
  if (from.get(fields) != simdjson::SUCCESS) {
    return fmt::format("{} is missing; only {} is understood", what, type);
  }
  element named;
  if (fields["type"].get(named) != simdjson::SUCCESS || !is_text(named, type)) {
    return fmt::format("{} is {}; only {} is understood", what, shown(from.value_unsafe()), type);
  }
  for (const Option& option : options) {
    element value;
    if (fields[option.name].get(value) != simdjson::SUCCESS) continue;
    if (!option.accepts(value)) {
      return fmt::format("{} has \"{}\": {}, which is not understood", what, option.name,
                         shown(value));
    }
  }
  return std::nullopt;
}

Complaint unlike_byte_level(const simdjson::simdjson_result<element>& from, std::string_view what,
                            bool is_cutting) {
  // Only where it cuts do its options change ids: the decoder and the post-processor have them too.
  if (!is_cutting) return unlike(from, what, "ByteLevel", {});
  if (Complaint found = unlike(from, what, "ByteLevel",
                               {{"add_prefix_space", is_false}, {"use_regex", is_false}})) {
    return found;
  }
  // Both are true where they are left out.
  for (const std::string_view name : {"add_prefix_space", "use_regex"}) {
    if (from[name].error() != simdjson::SUCCESS) {
      return fmt::format("{} does not say \"{}\": false", what, name);
    }
  }
  return std::nullopt;
}

Complaint unlike_pattern(const simdjson::simdjson_result<element>& split) {
  if (Complaint found =
          unlike(split, "the first pre-tokenizer", "Split",
                 {{"behavior", [](const element& e) { return is_text(e, "Isolated"); }},
                  {"invert", is_false}})) {
    return found;
  }
  if (split["behavior"].error() != simdjson::SUCCESS) {
    return "the first pre-tokenizer has no \"behavior\"";
  }
  element pattern;
  if (split["pattern"]["Regex"].get(pattern) != simdjson::SUCCESS) {
    return "the first pre-tokenizer has no pattern that is a Regex";
  }
  if (!is_text(pattern, kQwenPattern)) {
    return fmt::format("the pre-tokenizer's pattern is {}, not that of Qwen2", shown(pattern));
  }
  return std::nullopt;
}

Complaint unlike_pre_tokenizer(const simdjson::simdjson_result<element>& from) {
  if (Complaint found = unlike(from, "the pre-tokenizer", "Sequence", {})) return found;
  simdjson::dom::array parts;
  if (from["pretokenizers"].get(parts) != simdjson::SUCCESS || parts.size() != 2) {
    return "the pre-tokenizer is no Sequence of two";
  }
  if (Complaint found = unlike_pattern(parts.at(0))) return found;
  return unlike_byte_level(parts.at(1), "the second pre-tokenizer", true);
}

Complaint unlike_model(const simdjson::simdjson_result<element>& from) {
  if (Complaint found = unlike(from, "the model", "BPE",
                               {{"dropout", [](const element& e) { return e.is_null(); }},
                                {"unk_token", [](const element& e) { return e.is_null(); }},
                                {"continuing_subword_prefix", is_null_or_empty},
                                {"end_of_word_suffix", is_null_or_empty},
                                {"fuse_unk", is_false},
                                {"byte_fallback", is_false},
                                {"ignore_merges", is_false}})) {
    return found;
  }
  return unknown_key(
      from.get_object().value_unsafe(), "the model",
      {"type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix",
       "fuse_unk", "byte_fallback", "ignore_merges", "vocab", "merges"});
}

}  // namespace

std::optional<std::string> unknown_in_tokenizer(const object& root) {
  // Truncation and padding are wishes of whoever saved the file, for a whole call; ids do not
  // depend on them.
  if (Complaint found =
          unknown_key(root, "the file",
                      {"version", "truncation", "padding", "added_tokens", "normalizer",
                       "pre_tokenizer", "post_processor", "decoder", "model"})) {
    return found;
  }
  if (Complaint found = unlike_model(root["model"])) return found;
  if (Complaint found = unlike(root["normalizer"], "the normalizer", "NFC", {})) return found;
  if (Complaint found = unlike_pre_tokenizer(root["pre_tokenizer"])) return found;
  if (Complaint found = unlike_byte_level(root["decoder"], "the decoder", false)) return found;
  element post;
  if (root["post_processor"].get(post) != simdjson::SUCCESS || post.is_null()) return std::nullopt;
  return unlike_byte_level(root["post_processor"], "the post-processor", false);
}

}  // namespace plateau::train
