// SPDX-License-Identifier: Apache-2.0
// What the tests of this room share: tokenizers, and short ways to say things.
#pragma once

#include <gtest/gtest.h>

#include <rapidcheck.h>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "trainer/text/tokenizer.h"
#include "trainer/text/tokenizer_writer.h"

namespace plateau::train {

// Qwen2.5's own file, cut down to what the tests' texts reach (trainer/testdata/text/README.md).
inline std::string qwen_cut_down_file() {
  return std::string(PLATEAU_SOURCE_DIR) + "/trainer/testdata/text/qwen2.5-cut-down.json";
}

inline const Tokenizer& qwen_cut_down() {
  static const Tokenizer tokenizer = [] {
    Result<Tokenizer> read = Tokenizer::read(qwen_cut_down_file());
    if (!read) ADD_FAILURE() << read.error().message;
    return std::move(read.value());
  }();
  return tokenizer;
}

inline std::string whole_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::vector<int64_t> ids(std::string_view text) {
  return qwen_cut_down().encode(text, SpecialTokens::parse);
}

// The text of each token, as the ranges have it.
inline std::vector<std::string> texts_of(const Tokenizer::Encoded& encoded) {
  std::vector<std::string> texts;
  for (const Token& token : encoded.tokens) {
    texts.push_back(encoded.text.substr(token.begin, token.end - token.begin));
  }
  return texts;
}

// Bytes that are often, but not always, UTF-8, with marks, white space and special tokens.
inline rc::Gen<std::string> arbitrary_text() {
  const auto part =
      rc::gen::oneOf(rc::gen::arbitrary<std::string>(),
                     rc::gen::element<std::string>(
                         "<|im_end|>", "<tool_call>", "<|im_", "e\u0301", "\u1dfa\u0301", "\u00a0",
                         "\r\n", "  ", "'ll", "'\u017f", "\uac00\u11a8",
                         "\U0001f468\u200d\U0001f469", "12", "\xe2\x82", "\u0344", "\u2126"));
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(part),
                      [](const std::vector<std::string>& parts) {
                        std::string all;
                        for (const std::string& one : parts) all += one;
                        return all;
                      });
}

}  // namespace plateau::train
