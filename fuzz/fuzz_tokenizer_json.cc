// SPDX-License-Identifier: Apache-2.0
// tokenizer.json files. One that is read must also encode, and give back what it encoded.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "trainer/text/tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using plateau::train::SpecialTokens;
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  const auto tokenizer = plateau::train::Tokenizer::parse(json, "fuzz");
  if (!tokenizer) return 0;
  const auto encoded = tokenizer.value().encode_with_ranges("What's 12 <|im_end|>\n\xC3\xA9!!",
                                                            SpecialTokens::parse);
  size_t at = 0;
  for (const plateau::train::Token& token : encoded.tokens) {
    if (token.begin != at || token.end <= at) std::abort();
    if (token.id < 0 || token.id >= tokenizer.value().size()) std::abort();
    at = token.end;
  }
  if (at != encoded.text.size()) std::abort();
  return 0;
}
