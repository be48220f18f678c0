// SPDX-License-Identifier: Apache-2.0
// For tests: a folder with a dataset in it that goes away with the test, pictures, and a tokenizer.
#pragma once

#include <array>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_writer.h"
#include "base/testing/scratch_directory.h"
#include "trainer/data/dataset.h"
#include "trainer/data/picture_maker.h"
#include "trainer/text/tokenizer_writer.h"

namespace plateau::train {

inline std::string as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline std::string base64_of(std::span<const std::byte> bytes) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) {
      group = group << 8 | (i + k < bytes.size() ? std::to_integer<uint32_t>(bytes[i + k]) : 0U);
    }
    for (size_t k = 0; k < 4; ++k) {
      text += i + k <= bytes.size() ? kAlphabet[group >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}

// {"text": ..., "image": ..., "response": ...}
inline std::string simple_line(std::string_view text, std::string_view image,
                               std::string_view response) {
  JsonWriter json;
  json.begin_object().key("text").value(text).key("image").value(image);
  json.key("response").value(response).end_object();
  return json.take() + "\n";
}

// A dataset of `examples` generated ones with base64 pictures; `side` pixels.
inline std::string shapes_jsonl(size_t examples, int64_t side = 56) {
  std::string text;
  for (size_t i = 0; i < examples; ++i) {
    const Result<ShapeExample> example = make_shape_example(i, {.side = side});
    if (!example) std::abort();
    text += simple_line(example.value().question, base64_of(example.value().picture),
                        example.value().answer);
  }
  return text;
}

inline Tokenizer small_tokenizer() {
  const std::array<std::string, 1> texts = {"What is in the picture? {\"shape\": \"circle\"}"};
  const Result<std::string> json = make_tokenizer_json(texts, 300);
  if (!json) std::abort();
  Result<Tokenizer> tokenizer = Tokenizer::parse(json.value(), "tokenizer.json");
  if (!tokenizer) std::abort();
  return std::move(tokenizer.value());
}

}  // namespace plateau::train
