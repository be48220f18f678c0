// SPDX-License-Identifier: Apache-2.0
// One line of a dataset. What is read has an answer, and names each of its pictures once, in order.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "trainer/data/example_line.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace plateau::train;
  size_t asked = 0;
  const PictureReader reader = [&](std::string_view reference,
                                   size_t number) -> plateau::Result<PictureSource> {
    if (number != ++asked) std::abort();
    if (reference == "missing") return plateau::Error{plateau::Error::Kind::not_found, "missing"};
    return PictureSource{.name = std::string(reference)};
  };
  const std::string line(reinterpret_cast<const char*>(data), size);
  const auto example = parse_example_line(line, {}, reader);
  if (!example.ok()) {
    if (example.error().message.empty()) std::abort();
    return 0;
  }
  size_t named = 0;
  bool has_answer = false;
  for (const Message& message : example.value().messages) {
    if (message.role == Message::Role::assistant) has_answer = true;
    for (const Part& part : message.parts) {
      if (part.kind == Part::Kind::image && part.image != named++) std::abort();
    }
  }
  if (!has_answer || named != asked || named != example.value().pictures.size()) std::abort();
  return 0;
}
