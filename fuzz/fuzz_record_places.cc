// SPDX-License-Identifier: Apache-2.0
// Where the examples of a dataset file lie. Places lie in the file, in order and apart, whatever
// blocks it is read in; and of a valid JSON array every element is found.
#include <simdjson.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "dataset/record_places.h"

namespace {

using plateau::RecordFinder;
using plateau::RecordPlace;

std::optional<std::vector<RecordPlace>> places_of(const std::string& text, size_t block) {
  RecordFinder finder;
  for (size_t at = 0; at < text.size(); at += block) {
    if (finder.add({text.data() + at, std::min(block, text.size() - at)})) return std::nullopt;
  }
  if (finder.finish()) return std::nullopt;
  return finder.take();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto whole = places_of(text, std::max<size_t>(size, 1));
  const auto pieces = places_of(text, 3);
  if (whole.has_value() != pieces.has_value()) std::abort();
  simdjson::dom::parser parser;
  simdjson::dom::array array;
  if (parser.parse(text).get(array) == simdjson::SUCCESS) {
    if (!whole || whole->size() != array.size()) std::abort();
  }
  if (!whole) return 0;
  if (whole->size() != pieces->size()) std::abort();
  uint64_t end = 0;
  uint32_t line = 1;
  for (size_t i = 0; i < whole->size(); ++i) {
    const RecordPlace& place = (*whole)[i];
    const RecordPlace& other = (*pieces)[i];
    if (place.offset != other.offset || place.bytes != other.bytes || place.line != other.line) {
      std::abort();
    }
    if (place.offset < end || place.bytes == 0 || place.line < line) std::abort();
    end = place.offset + place.bytes;
    line = place.line;
  }
  if (end > size) std::abort();
  return 0;
}
