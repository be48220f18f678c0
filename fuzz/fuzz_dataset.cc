// SPDX-License-Identifier: Apache-2.0
// Records of a dataset in all forms, CSV too, and the bytes of a picture.
#include <cstdint>
#include <string_view>

#include "dataset/example.h"
#include "dataset/picture_header.h"
#include "dataset/records.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const bool is_csv : {false, true}) {
    static_cast<void>(plateau::each_record_of(
        text, is_csv,
        [](const plateau::RecordAt&, const plateau::Result<simdjson::dom::element>& record) {
          if (record) static_cast<void>(plateau::read_example(record.value()));
          return true;
        }));
  }
  for (const bool is_whole : {false, true})
    static_cast<void>(plateau::picture_facts(text, is_whole));
  return 0;
}
