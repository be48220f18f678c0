// SPDX-License-Identifier: Apache-2.0
// The trainer's tokenizer on a pipe, for comparison with another one.
//   train_tokenize make VOCABULARY   makes a tokenizer.json from the texts
//   train_tokenize ids FILE          the ids of each text, a line each
//   train_tokenize words FILE        of each token, to which piece it belongs, counted from 0;
//                                    special tokens are taken as characters
// Texts come on standard input, a line each, as hexadecimal bytes: any bytes can be sent.
#include <cstdint>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "trainer/text/pretokenizer.h"
#include "trainer/text/tokenizer.h"
#include "trainer/text/tokenizer_writer.h"

namespace {

using plateau::train::SpecialTokens;
using plateau::train::Tokenizer;

int nibble(char c) {
  return c <= '9' ? c - '0' : plateau::ascii_lower(c) - 'a' + 10;
}

std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(nibble(hex[i]) * 16 + nibble(hex[i + 1])));
  }
  return bytes;
}

int fail(const std::string& message) {
  std::cerr << "train_tokenize: " << message << '\n';
  return 2;
}

int make(const std::string& vocabulary) {
  std::vector<std::string> texts;
  for (std::string line; std::getline(std::cin, line);) texts.push_back(from_hex(line));
  const auto json =
      plateau::train::make_tokenizer_json(texts, plateau::parse_int(vocabulary).value_or(0));
  if (!json) return fail(json.error().message);
  std::cout << json.value();
  return 0;
}

std::vector<int64_t> words_of(const Tokenizer& tokenizer, const std::string& text) {
  const Tokenizer::Encoded encoded = tokenizer.encode_with_ranges(text, SpecialTokens::text);
  std::vector<int64_t> words;
  size_t end = 0;
  int64_t word = -1;
  for (const plateau::train::Token& token : encoded.tokens) {
    if (token.begin >= end) {
      end = plateau::train::piece_end(encoded.text, end);
      ++word;
    }
    words.push_back(word);
  }
  return words;
}

int print(const std::string& what, const std::string& file) {
  const auto tokenizer = Tokenizer::read(file);
  if (!tokenizer) return fail(tokenizer.error().message);
  for (std::string line; std::getline(std::cin, line);) {
    const std::string text = from_hex(line);
    const std::vector<int64_t> numbers = what == "words"
                                             ? words_of(tokenizer.value(), text)
                                             : tokenizer.value().encode(text, SpecialTokens::parse);
    std::string_view separator;
    for (const int64_t number : numbers) {
      std::cout << separator << number;
      separator = " ";
    }
    std::cout << '\n';
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 2 && arguments[0] == "make") return make(arguments[1]);
  if (arguments.size() == 2 && (arguments[0] == "ids" || arguments[0] == "words")) {
    return print(arguments[0], arguments[1]);
  }
  return fail("usage: train_tokenize make VOCABULARY | ids FILE | words FILE");
}
