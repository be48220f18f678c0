// SPDX-License-Identifier: Apache-2.0
// A chat template, and behind a line of three dots the values it is rendered with. Whatever is read
// renders to a text or to an error with a message.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "trainer/text/jinja.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace plateau::train;
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const size_t cut = all.find("\n...\n");
  const auto read = JinjaTemplate::parse(all.substr(0, cut));
  if (!read.ok()) {
    if (read.error().message.empty()) std::abort();
    return 0;
  }
  const auto values =
      jinja_values_of_json(cut == std::string_view::npos ? "{}" : all.substr(cut + 5));
  if (!values.ok()) return 0;
  const auto text = read.value().render(values.value());
  if (!text.ok() && text.error().message.empty()) std::abort();
  return 0;
}
