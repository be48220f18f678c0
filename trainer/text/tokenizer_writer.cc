// SPDX-License-Identifier: Apache-2.0
// Learning is the plain method: count the words, count the pairs in them, join the most frequent
// pair everywhere, count again. Each merge looks at every word, so the time is merges times words;
// for 750 merges over the few hundred words of generated questions that is milliseconds. It is not
// meant for corpora.
#include "trainer/text/tokenizer_writer.h"

#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

#include "base/json_writer.h"
#include "trainer/text/byte_alphabet.h"
#include "trainer/text/pretokenizer.h"
#include "trainer/text/unicode.h"

namespace plateau::train {
namespace {

constexpr std::array<QwenToken, 22> kQwenTokens = {{
    {"<|endoftext|>"},         {"<|im_start|>"},          {"<|im_end|>"},
    {"<|object_ref_start|>"},  {"<|object_ref_end|>"},    {"<|box_start|>"},
    {"<|box_end|>"},           {"<|quad_start|>"},        {"<|quad_end|>"},
    {"<|vision_start|>"},      {"<|vision_end|>"},        {"<|vision_pad|>"},
    {"<|image_pad|>"},         {"<|video_pad|>"},         {"<tool_call>", false},
    {"</tool_call>", false},   {"<|fim_prefix|>", false}, {"<|fim_middle|>", false},
    {"<|fim_suffix|>", false}, {"<|fim_pad|>", false},    {"<|repo_name|>", false},
    {"<|file_sep|>", false},
}};

struct Word {
  std::vector<uint32_t> ids;
  int64_t count = 0;
};

using Pair = std::pair<uint32_t, uint32_t>;

struct Learned {
  std::vector<std::string> tokens;  // Bytes, by id.
  std::vector<Pair> merges;
};

std::vector<Word> words_of(std::span<const std::string> texts) {
  std::map<std::string, int64_t> counts;
  for (const std::string& given : texts) {
    const std::string text = to_nfc(to_valid_utf8(given));
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = piece_end(text, begin);
      ++counts[text.substr(begin, end - begin)];
      begin = end;
    }
  }
  std::array<uint32_t, 256> ids{};
  for (uint32_t i = 0; i < 256; ++i) ids[byte_order()[i]] = i;
  std::vector<Word> words;
  for (const auto& [bytes, count] : counts) {
    Word word{.count = count};
    for (const char byte : bytes) word.ids.push_back(ids[static_cast<unsigned char>(byte)]);
    words.push_back(std::move(word));
  }
  return words;
}

// The most frequent pair, the one with lower ids among equals, and how often it occurs.
std::pair<Pair, int64_t> best_pair(const std::vector<Word>& words) {
  std::map<Pair, int64_t> counts;
  for (const Word& word : words) {
    for (size_t i = 0; i + 1 < word.ids.size(); ++i) {
      counts[{word.ids[i], word.ids[i + 1]}] += word.count;
    }
  }
  std::pair<Pair, int64_t> best{{}, 0};
  for (const auto& [pair, count] : counts) {
    if (count > best.second) best = {pair, count};
  }
  return best;
}

void join(Word& word, const Pair& pair, uint32_t id) {
  size_t kept = 0;
  for (size_t i = 0; i < word.ids.size(); ++i, ++kept) {
    const bool is_pair =
        i + 1 < word.ids.size() && word.ids[i] == pair.first && word.ids[i + 1] == pair.second;
    word.ids[kept] = is_pair ? id : word.ids[i];
    if (is_pair) ++i;
  }
  word.ids.resize(kept);
}

Learned learn(std::span<const std::string> texts, size_t tokens) {
  Learned learned;
  for (const uint8_t byte : byte_order()) learned.tokens.emplace_back(1, static_cast<char>(byte));
  // Two pairs may spell the same bytes; a token has one id.
  std::map<std::string, uint32_t> ids;
  for (uint32_t i = 0; i < 256; ++i) ids.emplace(learned.tokens[i], i);
  std::vector<Word> words = words_of(texts);
  while (learned.tokens.size() < tokens) {
    const auto [pair, count] = best_pair(words);
    if (count < 2) break;
    const std::string bytes = learned.tokens[pair.first] + learned.tokens[pair.second];
    const auto [at, is_new] = ids.emplace(bytes, static_cast<uint32_t>(learned.tokens.size()));
    if (is_new) learned.tokens.push_back(bytes);
    learned.merges.push_back(pair);
    for (Word& word : words) join(word, pair, at->second);
  }
  return learned;
}

void write_byte_level(JsonWriter& json) {
  json.begin_object().key("type").value("ByteLevel").key("add_prefix_space").value(false);
  json.key("trim_offsets").value(false).key("use_regex").value(false).end_object();
}

void write_added(JsonWriter& json, size_t first_id) {
  json.key("added_tokens").begin_array();
  for (size_t i = 0; i < kQwenTokens.size(); ++i) {
    json.begin_object().key("id").value(first_id + i).key("content").value(kQwenTokens[i].content);
    for (const char* name : {"single_word", "lstrip", "rstrip", "normalized"}) {
      json.key(name).value(false);
    }
    json.key("special").value(kQwenTokens[i].is_special).end_object();
  }
  json.end_array();
}

void write_steps(JsonWriter& json) {
  json.key("normalizer").begin_object().key("type").value("NFC").end_object();
  json.key("pre_tokenizer").begin_object().key("type").value("Sequence");
  json.key("pretokenizers").begin_array();
  json.begin_object().key("type").value("Split").key("pattern").begin_object();
  json.key("Regex").value(kQwenPattern).end_object();
  json.key("behavior").value("Isolated").key("invert").value(false).end_object();
  write_byte_level(json);
  json.end_array().end_object();
  json.key("post_processor");
  write_byte_level(json);
  json.key("decoder");
  write_byte_level(json);
}

void write_model(JsonWriter& json, const Learned& learned) {
  json.key("model").begin_object().key("type").value("BPE").key("dropout").null();
  json.key("unk_token").null().key("continuing_subword_prefix").value("");
  json.key("end_of_word_suffix").value("").key("fuse_unk").value(false);
  json.key("byte_fallback").value(false).key("vocab").begin_object();
  for (size_t id = 0; id < learned.tokens.size(); ++id) {
    json.key(spelled(learned.tokens[id])).value(id);
  }
  json.end_object().key("merges").begin_array();
  for (const auto& [left, right] : learned.merges) {
    json.value(spelled(learned.tokens[left]) + " " + spelled(learned.tokens[right]));
  }
  json.end_array().end_object();
}

}  // namespace

const std::array<QwenToken, 22>& qwen_tokens() {
  return kQwenTokens;
}

Result<std::string> make_tokenizer_json(std::span<const std::string> texts, int64_t vocabulary) {
  constexpr size_t kFewest = 256 + kQwenTokens.size();
  if (vocabulary < static_cast<int64_t>(kFewest)) {
    return Error{Error::Kind::usage,
                 fmt::format("a vocabulary of {} is too small: bytes and Qwen's own tokens are {}",
                             vocabulary, kFewest)};
  }
  const Learned learned = learn(texts, static_cast<size_t>(vocabulary) - kQwenTokens.size());
  JsonWriter json;
  json.begin_object().key("version").value("1.0").key("truncation").null().key("padding").null();
  write_added(json, learned.tokens.size());
  write_steps(json);
  write_model(json, learned);
  json.end_object();
  return json.take();
}

}  // namespace plateau::train
