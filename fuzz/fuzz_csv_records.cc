// SPDX-License-Identifier: Apache-2.0
// A dataset as CSV. Records are found alike however the file is cut into blocks, lie within it in
// order, and each is a JSON object or an error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/data/csv_records.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace plateau;
  using namespace plateau::train;
  const std::span<const char> all(reinterpret_cast<const char*>(data), size);
  CsvFinder whole;
  CsvFinder cut;
  const bool is_bad = whole.add(all).has_value() || whole.finish().has_value();
  const size_t middle = size / 2;
  const bool is_bad_cut = cut.add(all.first(middle)).has_value() ||
                          cut.add(all.subspan(middle)).has_value() || cut.finish().has_value();
  if (is_bad != is_bad_cut) std::abort();
  if (is_bad) return 0;
  const std::vector<RecordPlace> places = whole.take();
  if (places.size() != cut.take().size()) std::abort();
  uint64_t end = 0;
  std::vector<std::string> header;
  for (const RecordPlace& place : places) {
    if (place.offset < end || place.offset + place.bytes > size) std::abort();
    end = place.offset + place.bytes;
    const std::string_view record(all.data() + place.offset, place.bytes);
    if (header.empty()) {
      header = csv_fields(record);
      continue;
    }
    const auto json = csv_to_json(header, record);
    if (json.ok() ? json.value().empty() : json.error().message.empty()) std::abort();
  }
  return 0;
}
