// SPDX-License-Identifier: Apache-2.0
// Arbitrary bytes through a small tokenizer and back: what comes back is the composed text, the
// ranges cover it without a gap, and each spells its token.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainer/text/tokenizer.h"
#include "trainer/text/tokenizer_writer.h"
#include "trainer/text/unicode.h"

namespace {

using plateau::train::SpecialTokens;
using plateau::train::Tokenizer;

const Tokenizer& tokenizer() {
  static const Tokenizer made = [] {
    const std::vector<std::string> texts = {
        "the the  the\n\nthe \"a\": \"a\" \xC3\xA9\xC3\xA9",
        "aaaaaaaa 'll 'll \xE6\xBC\xA2\xE5\xAD\x97\xE6\xBC\xA2"};
    auto json = plateau::train::make_tokenizer_json(texts, 320);
    auto parsed = Tokenizer::parse(json.value(), "made");
    if (!parsed) std::abort();
    return std::move(parsed.value());
  }();
  return made;
}

void check(std::string_view text, SpecialTokens special) {
  const Tokenizer::Encoded encoded = tokenizer().encode_with_ranges(text, special);
  const std::vector<int64_t> ids = tokenizer().encode(text, special);
  if (tokenizer().decode(ids, false) != encoded.text) std::abort();
  size_t at = 0;
  for (const plateau::train::Token& token : encoded.tokens) {
    if (token.begin != at) std::abort();
    const std::string bytes = tokenizer().decode({&token.id, 1}, false);
    if (encoded.text.substr(token.begin, token.end - token.begin) != bytes) std::abort();
    at = token.end;
  }
  if (at != encoded.text.size()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(text, SpecialTokens::parse);
  check(text, SpecialTokens::text);
  const std::string composed = plateau::train::to_nfc(plateau::train::to_valid_utf8(text));
  if (tokenizer().encode_with_ranges(text, SpecialTokens::text).text != composed) std::abort();
  if (plateau::train::to_nfc(composed) != composed) std::abort();
  return 0;
}
