// SPDX-License-Identifier: Apache-2.0
// The classes of JSON's bytes: spans cover the text in order, and whatever simdjson takes for an
// object or a list has them. (Not the other way round: simdjson has limits on depth and numbers.)
#include <simdjson.h>

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "trainer/text/json_spans.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto spans = plateau::train::json_spans(text);
  if (!spans) {
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    if (parser.parse(simdjson::padded_string(text)).get(root) != simdjson::SUCCESS) return 0;
    if (root.is_object() || root.is_array()) std::abort();
    return 0;
  }
  size_t at = 0;
  for (size_t i = 0; i < spans->size(); ++i) {
    const plateau::train::JsonSpan& span = (*spans)[i];
    if (span.begin != at || span.end <= at) std::abort();
    if (i > 0 && span.kind == (*spans)[i - 1].kind) std::abort();
    at = span.end;
  }
  if (at != size) std::abort();
  return 0;
}
